/**
 * One vulnerability with its sources, what it affects, and where it occurs: the operation `get_vulnerability` and the Console's page.
 *
 * An id may stand for several issues (`GO-2022-0586` names four CVE ids): the most severe one is shown, and the others are named.
 * Advisories about only this issue come before those about several. What exceeds a limit is cut, and the answer says so.
 */
import { Type } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import type { Queries } from "../../backing/backing.ts";
import { readIdentifier, type Advisory, isNotOlder } from "../advisories/advisory.ts";
import { byPrecedence } from "../advisories/issue.ts";
import { readAdvisory } from "../advisories/read-advisory.ts";
import { ecosystemNameOf } from "../findings/schema.ts";
import * as limits from "../limits.ts";
import { operation, reading } from "../operation.ts";
import { affectedPackages, type BoundedRecord } from "./affected-packages.ts";
import { viewExploit, VulnerabilityRecord } from "./schema.ts";
import * as store from "./store.ts";

export const getVulnerability = operation({
  title: "Get a vulnerability",
  description:
    "Shows one vulnerability by any of its ids (CVE, GHSA, PYSEC, GO, RUSTSEC and others), with its references, the packages and versions " +
    "that it affects, and where it occurs in the active scope.",
  annotations: reading,
  input: Type.Object({
    cve_id: Type.String({ title: "Its id, in any case", description: "an id such as CVE-2021-44228 or GHSA-jfh8-c2jp-5v3q" }),
  }),
  data: VulnerabilityRecord,
  async handle({ input, caller: { workspace, scope }, parts: { sql } }) {
    const { id, names, record } = await showVulnerability({ named: input.cve_id, workspace, scope }, sql);
    return { data: record, message: messageOf(id, names) };
  },
});

interface ShownVulnerability {
  /** As requested, in upper case. */
  id: string;
  /** The vulnerabilities that the id refers to. */
  names: string[];
  record: VulnerabilityRecord;
}

/**
 * One vulnerability in a scope.
 * @param named any id of the vulnerability, in any case
 * @throws DomainError invalid_field for a text that is not an id; not_found
 */
export async function showVulnerability(
  { named, workspace, scope }: { named: string } & Omit<store.InScope, "vulnerability">,
  sql: Queries,
): Promise<ShownVulnerability> {
  const id = readIdentifier(named);
  if (id === null) throw new DomainError("invalid_field", "Invalid CVE identifier");
  const issues = await store.selectByName(id, sql);
  const [issue] = issues;
  if (issue === undefined) throw new DomainError("not_found", `None of the advisories that this service has is about "${id}"`);
  const names = issues.map(({ name }) => name);
  const record = {
    ...(await viewIssue(issue, sql)),
    ...viewExploit(await store.selectExploit(issue.id, sql)),
    stands_for: names.slice(0, limits.vulnerabilityAliasesMax),
    ...(await viewOccurrences({ vulnerability: issue.id, workspace, scope }, sql)),
  };
  const ecosystem = record.ecosystem ?? onlyEcosystem(record.affected.map((one) => one.ecosystem));
  return { id, names, record: { ...record, ecosystem } };
}

/** For an id of several issues, the answer shows the most severe one and names the others. */
function messageOf(id: string, [name = id, ...others]: readonly string[]): string {
  if (others.length === 0) return `${name} and its sources`;
  const named = others.slice(0, limits.vulnerabilityAliasesMax).join(", ");
  return `${id} stands for ${others.length + 1} vulnerabilities: this is ${name}, the most severe of them; ask for the others by their names: ${named}`;
}

async function viewIssue(issue: store.IssueRow, sql: Queries) {
  const { name, severity, score, cvssVersion, cvssVector, severitySource, severityBasis, ids, shared } = issue;
  const records = await boundedRecords(issue, sql);
  const { leftOut: texts, ...summary } = summaryOf(records.shown.map(({ advisory }) => advisory));
  const { leftOut: packages, affected } = affectedPackages(records.shown);
  const aliases = [...ids, ...shared].filter((other) => other !== name);
  return {
    cve_id: name,
    severity,
    cvss_score: score === null ? null : Number(score),
    cvss_version: cvssVersion,
    cvss_vector: cvssVector,
    severity_source: severitySource,
    severity_basis: severityBasis,
    ...summary,
    aliases: aliases.slice(0, limits.vulnerabilityAliasesMax),
    sources: records.shown.map(({ advisory }) => advisory.id),
    affected,
    left_out: {
      sources: records.total - records.shown.length,
      aliases: Math.max(0, aliases.length - limits.vulnerabilityAliasesMax),
      ...texts,
      ...packages,
    },
  };
}

/** In the order of precedence; advisories about only this issue come before those about several issues. */
async function boundedRecords({ ids, shared }: store.IssueRow, sql: Queries): Promise<{ shown: BoundedRecord[]; total: number }> {
  const bounds = {
    records: limits.vulnerabilitySourcesMax,
    entries: limits.vulnerabilityAffectedMax,
    versions: limits.vulnerabilityRangesMax,
  };
  const rows = await store.selectBoundedRecords([...byPrecedence(ids), ...byPrecedence(shared)], bounds, sql);
  const shown = rows.map(({ record, entries, versions }) => ({ advisory: readAdvisory(record), entries, versions }));
  return { shown, total: rows[0]?.records ?? 0 };
}

type Summary = Pick<VulnerabilityRecord, "description" | "references" | "cwes" | "published" | "modified" | "withdrawn">;

interface Summarized extends Summary {
  leftOut: { references: number; description_characters: number };
}

/** @param records in the order of precedence */
function summaryOf(records: readonly Advisory[]): Summarized {
  const description = descriptionOf(records);
  const references = [...new Map(records.flatMap((record) => record.references.map((one) => [one.url, one] as const))).values()];
  const withdrawals = records.flatMap(({ withdrawn }) => withdrawn ?? []);
  const shown = cut(description);
  return {
    description: shown,
    references: references.slice(0, limits.vulnerabilityReferencesMax).map(({ type, url }) => ({ type, url })),
    cwes: [...new Set(records.flatMap(cwesOf))].toSorted(),
    published: inOrder(records.flatMap(({ published }) => published ?? []))[0] ?? null,
    modified: inOrder(records.map(({ modified }) => modified)).at(-1) ?? null,
    withdrawn: withdrawals.length < records.length ? null : (inOrder(withdrawals).at(-1) ?? null),
    leftOut: {
      references: Math.max(0, references.length - limits.vulnerabilityReferencesMax),
      description_characters: Math.max(0, description.length - limits.vulnerabilityDescriptionCharactersMax),
    },
  };
}

/** The description of one record: its summary, then its details. */
function descriptionOf(records: readonly Advisory[]): string {
  const [first] = [
    ...records.filter(({ details }) => details.trim() !== ""),
    ...records.filter(({ summary }) => summary.trim() !== ""),
  ];
  if (first === undefined) return "";
  const [summary, details] = [first.summary.trim(), first.details.trim()];
  if (details.startsWith(summary)) return details;
  return details === "" ? summary : `${summary}\n\n${details}`;
}

/** Never cuts within a surrogate pair. */
function cut(text: string): string {
  if (text.length <= limits.vulnerabilityDescriptionCharactersMax) return text;
  const kept = text.slice(0, limits.vulnerabilityDescriptionCharactersMax);
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`;
}

/** Each database stores them in its own field. */
function cwesOf({ databaseSpecific }: Advisory): string[] {
  const listed = [databaseSpecific["cwe_ids"], databaseSpecific["cwes"]].flat();
  const ids = listed.map((one) => (typeof one === "object" && one !== null && "cweId" in one ? one.cweId : one));
  return ids.filter((id) => typeof id === "string").filter((id) => /^CWE-\d{1,6}$/.test(id));
}

/** Omits the year 1, which some databases write for an unknown time. */
function inOrder(times: readonly string[]): string[] {
  const known = times.filter((time) => !time.startsWith("0001-"));
  return known.toSorted((one, other) => (one === other ? 0 : isNotOlder({ candidate: one, stored: other }) ? 1 : -1));
}

async function viewOccurrences(where: store.InScope, sql: Queries) {
  const { total, components, projects } = await store.countOccurrences(where, sql);
  const rows = total === 0 ? [] : await store.selectOccurrences({ ...where, limit: limits.vulnerabilityOccurrencesMax }, sql);
  const first = rows.find(({ live }) => live);
  return {
    affected_component: first === undefined ? null : componentOf(first),
    affected_project: first?.projectName ?? null,
    fix_version: first?.fixVersion ?? null,
    ecosystem: first === undefined ? null : ecosystemNameOf(first.ecosystem),
    affected_components_count: components,
    affected_projects_count: projects,
    occurrences: rows.map((row) => ({
      finding_id: row.finding,
      status: row.status,
      false_positive: row.falsePositive,
      component: row.component,
      component_version: row.version,
      project_id: row.project,
      project: row.projectName,
      fix_version: row.fixVersion,
    })),
    occurrences_total: total,
  };
}

function componentOf({ component, version }: store.OccurrenceRow): string {
  return version === "" ? component : `${component}@${version}`;
}

/** @returns null if packages of several ecosystems are affected */
function onlyEcosystem(ecosystems: readonly string[]): string | null {
  const [only, ...more] = new Set(ecosystems);
  return more.length === 0 ? (only ?? null) : null;
}

import { arrayText } from "../backing/array-text.ts";
import type { Queries, Transaction } from "../backing/backing.ts";
import type { Changes } from "../audit/changes.ts";
import type { WorkspaceId } from "../kernel/ids.ts";
import type { Evidence } from "./evidence.ts";
import type { Component, Unknown } from "./match.ts";
import type { FindingStatus } from "./schema.ts";
import type { Cause } from "./transitions.ts";

/** Packages of a document that records speak of. */
export async function selectSpokenOf(sbom: string, sql: Queries): Promise<bigint[]> {
  const rows = await sql<{ id: bigint }[]>`
    SELECT DISTINCT package_id AS id FROM sbom_components
    WHERE sbom_id = ${sbom} AND package_id IS NOT NULL
      AND EXISTS (SELECT FROM affected_packages WHERE affected_packages.package_id = sbom_components.package_id)
    ORDER BY id`;
  return rows.map(({ id }) => id);
}

/** Each version of these packages once, as the document names it first. */
export async function selectComponents(
  { sbom, packages }: { sbom: string; packages: readonly bigint[] },
  sql: Queries,
): Promise<Component[]> {
  return sql<Component[]>`
    SELECT DISTINCT ON (component.package_id, component.version)
      component.package_id AS package, packages.ecosystem, component.version, component.name, component.purl
    FROM sbom_components AS component
    JOIN packages ON packages.id = component.package_id
    WHERE component.sbom_id = ${sbom} AND component.package_id = ANY (${arrayText(packages, (id) => id)}::bigint[])
    ORDER BY component.package_id, component.version, component.position`;
}

/** What a finding is about. */
export interface FindingKey {
  package: bigint;
  version: string;
  vulnerability: bigint;
}

export interface FindingRow extends FindingKey {
  id: string;
  status: FindingStatus;
  falsePositive: boolean;
  present: boolean;
  rank: number;
  component: string;
  purl: string | null;
  fixVersion: string | null;
  evidence: Evidence;
}

/** Key by key in the index, whatever the planner believes of the size of the table: hence the limit. */
export async function selectFindings(
  { project, keys }: { project: string; keys: readonly FindingKey[] },
  sql: Queries,
): Promise<FindingRow[]> {
  return sql<FindingRow[]>`
    SELECT id, finding.package_id AS package, finding.version, finding.vulnerability_id AS vulnerability, status,
      false_positive AS "falsePositive", present, rank, component, purl, fix_version AS "fixVersion", evidence
    FROM unnest(
      ${arrayText(keys, (key) => key.package)}::bigint[], ${arrayText(keys, (key) => key.version)}::text[],
      ${arrayText(keys, (key) => key.vulnerability)}::bigint[]) AS key (package_id, version, vulnerability_id)
    CROSS JOIN LATERAL (
      SELECT * FROM findings
      WHERE findings.project_id = ${project} AND findings.package_id = key.package_id AND findings.version = key.version
        AND findings.vulnerability_id = key.vulnerability_id LIMIT 1) AS finding`;
}

export interface StoredFinding extends FindingKey {
  id: string;
  status: FindingStatus;
  falsePositive: boolean;
  rank: number;
  component: string;
  purl: string | null;
  fixVersion: string | null;
  evidence: Evidence;
}

interface Place {
  workspace: WorkspaceId;
  product: string | null;
  project: string;
  at: Date;
}

export async function insertFindings(
  findings: readonly StoredFinding[],
  { workspace, product, project, at }: Place,
  tx: Transaction,
): Promise<void> {
  if (findings.length === 0) return;
  await tx`
    INSERT INTO findings (id, workspace_id, product_id, project_id, package_id, version, vulnerability_id, component, purl, status,
      false_positive, present, rank, fix_version, evidence, first_seen, last_seen)
    SELECT id, ${workspace}, ${product}, ${project}, package, version, vulnerability, component, purl, status,
      "falsePositive", true, rank, "fixVersion", evidence, ${at}::timestamptz, ${at}::timestamptz
    FROM jsonb_to_recordset(${tx.json(findings.map(jsonOf))}) AS new (id text, package bigint, version text, vulnerability bigint,
      component text, purl text, status text, "falsePositive" boolean, rank smallint, "fixVersion" text, evidence jsonb)`;
}

/** They are there, with what is known of them now. */
export async function updateFindings(findings: readonly StoredFinding[], at: Date, tx: Transaction): Promise<void> {
  if (findings.length === 0) return;
  await tx`
    UPDATE findings SET component = new.component, purl = new.purl, status = new.status, false_positive = new."falsePositive",
      present = true, rank = new.rank, fix_version = new."fixVersion", evidence = new.evidence, last_seen = ${at}
    FROM jsonb_to_recordset(${tx.json(findings.map(jsonOf))}) AS new (id text, component text, purl text, status text,
      "falsePositive" boolean, rank smallint, "fixVersion" text, evidence jsonb)
    WHERE findings.id = new.id`;
}

/** A number of PostgreSQL's own is not JSON's. */
function jsonOf(finding: StoredFinding) {
  return { ...finding, package: String(finding.package), vulnerability: String(finding.vulnerability) } as never;
}

/** They are there as before. */
export async function updateLastSeen(ids: readonly string[], at: Date, tx: Transaction): Promise<void> {
  if (ids.length === 0) return;
  await tx`UPDATE findings SET last_seen = ${at} WHERE id = ANY (${arrayText(ids, (id) => id)}::text[])`;
}

export async function insertOccurrences(
  { sbom, findings }: { sbom: string; findings: readonly string[] },
  tx: Transaction,
): Promise<void> {
  if (findings.length === 0) return;
  await tx`
    INSERT INTO finding_sboms (sbom_id, finding_id)
    SELECT ${sbom}, id FROM unnest(${arrayText(findings, (id) => id)}::text[]) AS new (id)
    ON CONFLICT DO NOTHING`;
}

export interface NewEvent {
  finding: string;
  cause: Cause;
  changes: Changes;
}

/** @param actor an e-mail address, or `scanner` */
export async function insertEvents(
  events: readonly NewEvent[],
  { actor, at }: { actor: string; at: Date },
  tx: Transaction,
): Promise<void> {
  if (events.length === 0) return;
  await tx`
    INSERT INTO finding_events (finding_id, at, actor, cause, changes)
    SELECT finding, ${at}::timestamptz, ${actor}, cause, changes
    FROM jsonb_to_recordset(${tx.json(events as never)}) AS new (finding text, cause text, changes jsonb)`;
}

/** What is unknown of these packages is this and nothing else. */
export async function replaceUnknowns(
  { project, packages, unknowns }: { project: string; packages: readonly bigint[]; unknowns: readonly Unknown[] },
  tx: Transaction,
): Promise<void> {
  const rows = tx`unnest(
    ${arrayText(unknowns, (one) => one.package)}::bigint[], ${arrayText(unknowns, ({ version }) => version)}::text[],
    ${arrayText(unknowns, ({ vulnerability }) => vulnerability)}::bigint[], ${arrayText(unknowns, ({ reason }) => reason)}::text[])
    AS new (package_id, version, vulnerability_id, reason)`;
  await tx`
    DELETE FROM unknown_matches AS old
    WHERE project_id = ${project} AND package_id = ANY (${arrayText(packages, (id) => id)}::bigint[])
      AND NOT EXISTS (
        SELECT FROM ${rows}
        WHERE new.package_id = old.package_id AND new.version = old.version AND new.vulnerability_id = old.vulnerability_id)`;
  if (unknowns.length === 0) return;
  await tx`
    INSERT INTO unknown_matches (project_id, package_id, version, vulnerability_id, reason)
    SELECT ${project}, package_id, version, vulnerability_id, reason FROM ${rows}
    ON CONFLICT (project_id, package_id, version, vulnerability_id) DO UPDATE SET reason = excluded.reason
      WHERE unknown_matches.reason <> excluded.reason`;
}

/** Of packages that the document does not have, or that no record speaks of any longer. */
export async function deleteOtherUnknowns(
  { project, packages }: { project: string; packages: readonly bigint[] },
  tx: Transaction,
): Promise<void> {
  await tx`
    DELETE FROM unknown_matches
    WHERE project_id = ${project} AND package_id <> ALL (${arrayText(packages, (id) => id)}::bigint[])`;
}

/** When a finding of the project was last seen; undefined where there is none. */
export async function selectLastSeen(project: string, sql: Queries): Promise<Date | undefined> {
  const [row] = await sql<{ at: Date | null }[]>`SELECT max(last_seen) AS at FROM findings WHERE project_id = ${project}`;
  return row?.at ?? undefined;
}

export interface UnseenRow extends FindingKey {
  id: string;
  status: FindingStatus;
  falsePositive: boolean;
  /** What became of its issue. */
  ended: boolean;
  withdrawn: boolean;
}

/** Findings that were there, and that the scan that began at `since` has not seen. */
export async function selectUnseen(
  { project, since, limit }: { project: string; since: Date; limit: number },
  sql: Queries,
): Promise<UnseenRow[]> {
  return sql<UnseenRow[]>`
    SELECT finding.id, finding.package_id AS package, finding.version, finding.vulnerability_id AS vulnerability, finding.status,
      finding.false_positive AS "falsePositive", vulnerabilities.ended, vulnerabilities.withdrawn
    FROM findings AS finding
    JOIN vulnerabilities ON vulnerabilities.id = finding.vulnerability_id
    WHERE finding.project_id = ${project} AND finding.present AND finding.last_seen < ${since}
    LIMIT ${limit}`;
}

/** @returns the ids of those findings whose version the document has */
export async function selectInDocument(
  { sbom, findings }: { sbom: string; findings: readonly (FindingKey & { id: string })[] },
  sql: Queries,
): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    SELECT asked.id FROM unnest(
      ${arrayText(findings, ({ id }) => id)}::text[], ${arrayText(findings, (one) => one.package)}::bigint[],
      ${arrayText(findings, ({ version }) => version)}::text[]) AS asked (id, package_id, version)
    CROSS JOIN LATERAL (
      SELECT FROM sbom_components
      WHERE sbom_id = ${sbom} AND sbom_components.package_id = asked.package_id AND sbom_components.version = asked.version LIMIT 1) AS there`;
  return new Set(rows.map(({ id }) => id));
}

export async function updateToGone(ids: readonly string[], tx: Transaction): Promise<void> {
  await tx`
    UPDATE findings SET present = false, status = 'resolved' WHERE id = ANY (${arrayText(ids, (id) => id)}::text[])`;
}

/** What findings keep of their project and their issue, so that lists need nothing else. */
export async function updateCopies(
  { project, product }: { project: string; product: string | null },
  tx: Transaction,
): Promise<void> {
  await tx`
    UPDATE findings SET rank = vulnerabilities.rank, product_id = ${product}
    FROM vulnerabilities
    WHERE findings.project_id = ${project} AND vulnerabilities.id = findings.vulnerability_id
      AND (findings.rank <> vulnerabilities.rank OR findings.product_id IS DISTINCT FROM ${product})`;
}

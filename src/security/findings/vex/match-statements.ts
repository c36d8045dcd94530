/**
 * Which statement decides about each finding of a project's current SBOM: of those that are about it the latest, and of several of one time
 * the last in the document. A statement about the whole product, or about a package without a version, is about all versions; one that
 * names a version or lists some never reaches another.
 *
 * A statement about another product, or about another SBOM than the project has, decides nothing. Time is in proportion to statements plus
 * findings, except that statements that list versions are compared with each finding of their package; `vexComparisonsMax` bounds these.
 */
import { DomainError } from "../../../accounts/errors.ts";
import type { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import { packageIdentity, type Ecosystem } from "../../versions/ecosystem.ts";
import { isInRange, readVersRange, type VersRange } from "../../versions/vers.ts";
import { versionToMatch } from "../../versions/version-to-match.ts";
import { readVersion, type KnownVersion } from "../../versions/version.ts";
import { vexComparisonsMax } from "../limits.ts";
import { isByName, type About, type NamedPackage, type VersionRule, type VexStatement } from "./statement.ts";
import type { Candidate } from "./vex-store.ts";

/** Why a statement is about no finding, as a clause. */
export const unmatchedWords = {
  unknown_vulnerability: "no advisory here has this id",
  no_finding: "the current SBOM has no finding of this vulnerability",
  other_component: "the vulnerability is found, but not in this component",
  other_version: "the component has it, but in no version that the statement is about",
  unreadable_range: "the versions of the statement cannot be compared with the component's",
  other_product: "the statement is about another product, or about a part of one",
  other_sbom: "the statement is about another SBOM than the current one",
  unknown_reference: "the reference names no component with a package URL, of the document or of the current SBOM",
} as const;
export type UnmatchedReason = keyof typeof unmatchedWords;

/** What statements may be about. */
export interface Known {
  candidates: readonly Candidate[];
  /** By the ids in statements. */
  issues: ReadonlyMap<string, readonly bigint[]>;
  sbom: KnownSbom;
}

export interface KnownSbom {
  /** The serial number of a CycloneDX document without `urn:uuid:`, in lower case; null: it has none. */
  serial: string | null;
  /** The bom-ref, the package, the name and the version of its root; null: it has none. */
  rootRef: string | null;
  root: NamedPackage | null;
  rootByName: NamedPackage | null;
  rootVersion: string | null;
  /** Components with findings by bom-ref. */
  refs: ReadonlyMap<string, NamedPackage>;
}

export interface MatchedStatements {
  /** The statement that decides, and whether it is about all versions of the package. */
  decisions: Map<Candidate, { statement: VexStatement; isOfAllVersions: boolean }>;
  /** Statements that are about no finding, in the order of the document. */
  unmatched: { statement: VexStatement; reason: UnmatchedReason }[];
}

export async function matchStatements(
  statements: readonly VexStatement[],
  { candidates, issues, sbom }: Known,
  yielder: EventLoopYielder,
): Promise<MatchedStatements> {
  const index = await indexOf(candidates, yielder);
  const found = new Set(candidates.map(({ issue }) => issue));
  const decisions: MatchedStatements["decisions"] = new Map();
  const reasons = new Map<VexStatement, UnmatchedReason>();
  const asked = { index, visited: new Set<readonly Subject[]>(), comparisons: { left: vexComparisonsMax }, yielder };
  for (const statement of latestFirst(statements)) {
    await yielder.yieldIfDue();
    const own = issuesOf(statement, issues);
    const meant = meaningIn(statement, { own, found, sbom });
    const isOfAllVersions = typeof meant !== "string" && isOfAll(meant);
    const reached = typeof meant === "string" ? meant : await reachedBy(meant, { ...asked, issues: own });
    if (typeof reached === "string") reasons.set(statement, reached);
    else
      for (const { candidate } of reached)
        if (!decisions.has(candidate)) decisions.set(candidate, { statement, isOfAllVersions });
  }
  const unmatched = statements.flatMap((statement) => {
    const reason = reasons.get(statement);
    return reason === undefined ? [] : [{ statement, reason }];
  });
  return { decisions, unmatched };
}

/** A finding, with its version in the forms in which statements name it. */
interface Subject {
  candidate: Candidate;
  /** null: it cannot be compared. */
  version: KnownVersion | null;
}

function latestFirst(statements: readonly VexStatement[]): VexStatement[] {
  const placed = statements.map((statement, position) => ({ statement, position }));
  placed.sort((one, other) => other.statement.at - one.statement.at || other.position - one.position);
  return placed.map(({ statement }) => statement);
}

function issuesOf({ ids }: VexStatement, issues: Known["issues"]): bigint[] {
  return [...new Set(ids.flatMap((id) => issues.get(id) ?? []))];
}

function meaningIn(
  { about }: VexStatement,
  { own, found, sbom }: { own: readonly bigint[]; found: ReadonlySet<bigint>; sbom: KnownSbom },
): Meaning | UnmatchedReason {
  if (own.length === 0) return "unknown_vulnerability";
  return own.some((issue) => found.has(issue)) ? meaningOf(about, sbom) : "no_finding";
}

/** What a statement means in this project: its whole product, or a package in some versions. */
interface Meaning {
  /** null: all components. */
  package: NamedPackage | null;
  versions: readonly VersionRule[];
}

function isOfAll({ package: named, versions }: Meaning): boolean {
  return named === null || (named.version === null && versions.length === 0);
}

function meaningOf(about: About, sbom: KnownSbom): Meaning | UnmatchedReason {
  switch (about.kind) {
    case "nothing":
      return "unknown_reference";
    case "product":
      return otherThan(about.product, sbom) ?? wholeProduct(about.versions, sbom);
    case "package":
      if (sbom.root?.identity === about.package.identity && about.within === null)
        return otherThan(about.package, sbom) ?? wholeProduct(about.versions, sbom);
      return otherThan(about.within, sbom) ?? { package: about.package, versions: about.versions };
    case "reference":
      return referenceMeaning(about, sbom);
  }
}

function referenceMeaning(
  { bomRef, serial, versions, otherwise }: Extract<About, { kind: "reference" }>,
  sbom: KnownSbom,
): Meaning | UnmatchedReason {
  const isOurs = serial === null || serial === sbom.serial;
  if (isOurs && (bomRef === null || bomRef === sbom.rootRef)) return wholeProduct(versions, sbom);
  const named = isOurs && bomRef !== null ? sbom.refs.get(bomRef) : undefined;
  if (named !== undefined) return { package: named, versions };
  if (otherwise.kind === "nothing") return isOurs ? "unknown_reference" : "other_sbom";
  return meaningOf(otherwise, sbom);
}

/** Whether a product is another one than the SBOM's root. What one of them does not say, and another name, is no difference. */
function otherThan(product: NamedPackage | null, { root, rootByName }: KnownSbom): "other_product" | "other_version" | null {
  if (product === null) return null;
  const same = [root, rootByName].find((one) => one?.identity === product.identity);
  if (same !== undefined && same !== null) {
    const isOther = product.version !== null && same.version !== null && product.version !== same.version;
    return isOther ? "other_version" : null;
  }
  return root === null || isByName(product) ? null : "other_product";
}

/** @param rules about the product's own version, which the SBOM's root has */
function wholeProduct(rules: readonly VersionRule[], sbom: KnownSbom): Meaning | UnmatchedReason {
  const meant = { package: null, versions: [] };
  if (rules.length === 0) return meant;
  const { root, rootVersion: text } = sbom;
  if (text === null) return "other_version";
  const ecosystem = root?.ecosystem ?? null;
  const version = ecosystem === null ? null : knownVersion(ecosystem, text);
  const read = rules.slice(0, productRulesMax).map((rule) => readRule(rule, ecosystem));
  if (reaches(read, { text, version })) return meant;
  return read.some((rule) => rule.isUnreadable) ? "unreadable_range" : "other_version";
}

/** Rules of a product beyond these are not read, and so reach no version. */
const productRulesMax = 20;

interface Asked {
  issues: readonly bigint[];
  index: ReadonlyMap<string, readonly Subject[]>;
  /** Lists that an earlier statement was about. */
  visited: Set<readonly Subject[]>;
  comparisons: { left: number };
  yielder: EventLoopYielder;
}

/** @returns the findings that it is about, without those of which lists are visited; the reason if there is none */
async function reachedBy(meant: Meaning, asked: Asked): Promise<readonly Subject[] | UnmatchedReason> {
  const { issues, index, visited } = asked;
  const { package: named, versions } = meant;
  const listsOf = (one: NamedPackage | null) => issues.flatMap((issue) => [index.get(keyOf(issue, one)) ?? []]);
  const ofPackage = listsOf(named && { ...named, version: null }).filter((list) => list.length > 0);
  if (ofPackage.length === 0) return "other_component";
  if (versions.length > 0) return comparedWith(ofPackage.flat(), { versions, ...asked });
  const lists = listsOf(named).filter((list) => list.length > 0);
  if (lists.length === 0) return "other_version";
  const fresh = lists.filter((list) => !visited.has(list));
  for (const list of fresh) visited.add(list);
  return fresh.flat();
}

async function comparedWith(
  subjects: readonly Subject[],
  { versions, comparisons, yielder }: Pick<Asked, "comparisons" | "yielder"> & { versions: readonly VersionRule[] },
): Promise<readonly Subject[] | UnmatchedReason> {
  comparisons.left -= subjects.length * versions.length;
  if (comparisons.left < 0)
    throw new DomainError("invalid_body", "The document lists too many versions of packages with many findings: split it");
  const ecosystem = subjects[0]?.candidate.ecosystem ?? null;
  const rules: ReadRule[] = [];
  for (const rule of versions) {
    rules.push(readRule(rule, ecosystem));
    await yielder.yieldIfDue();
  }
  const reached: Subject[] = [];
  for (const subject of subjects) {
    if (reaches(rules, { text: subject.candidate.version, version: subject.version })) reached.push(subject);
    await yielder.yieldIfDue();
  }
  if (reached.length > 0) return reached;
  return rules.some((rule) => rule.isUnreadable) ? "unreadable_range" : "other_version";
}

interface ReadRule extends VersionRule {
  /** null: it is none, or it cannot be compared. */
  range: VersRange | null;
  /** Of a single version; null: it cannot be compared, and only the same text is the same version. */
  key: string | null;
  /** Whether its ecosystem's rules do not read it, as with `1.x` of npm. */
  isUnreadable: boolean;
}

function readRule(rule: VersionRule, ecosystem: Ecosystem | null): ReadRule {
  const range = rule.isRange && ecosystem !== null ? readVersRange(rule.text, ecosystem) : null;
  const key = rule.isRange || ecosystem === null ? null : (knownVersion(ecosystem, rule.text)?.key ?? null);
  return { ...rule, range, key, isUnreadable: rule.isRange ? range === null : ecosystem !== null && key === null };
}

/**
 * A version that a rule excludes is not reached, and none is if what a rule excludes cannot be compared. Half a version, such as `1` for
 * 1.5.0, may mean all that begin with it where it excludes, and is one version where it includes.
 */
function reaches(rules: readonly ReadRule[], { text, version }: { text: string; version: KnownVersion | null }): boolean {
  let isReached = false;
  for (const rule of rules) {
    if (!rule.reached && (rule.isUnreadable || text.startsWith(`${rule.text}.`))) return false;
    const isSame = rule.text === text || (version !== null && rule.key === version.key);
    const isMeant = rule.isRange ? version !== null && rule.range !== null && isInRange(version, rule.range) : isSame;
    if (isMeant && !rule.reached) return false;
    isReached ||= isMeant;
  }
  return isReached;
}

function knownVersion(ecosystem: Ecosystem, text: string): KnownVersion | null {
  const version = readVersion({ scheme: ecosystem, text });
  return version.known ? version : null;
}

/** The findings by what statements name: the issue, the issue in a package, or the issue in a version of it. */
async function indexOf(candidates: readonly Candidate[], yielder: EventLoopYielder): Promise<Map<string, Subject[]>> {
  const index = new Map<string, Subject[]>();
  const identities = new Map<bigint, string>();
  for (const candidate of candidates) {
    await yielder.yieldIfDue();
    const { issue, package: id, ecosystem, key: name, version: shown, purl } = candidate;
    const identity = identities.get(id) ?? packageIdentity({ ecosystem, name });
    identities.set(id, identity);
    const subject = { candidate, version: knownVersion(ecosystem, versionToMatch({ ecosystem, version: shown, purl })) };
    const of = { identity, ecosystem };
    const versions = [null, shown, ...(subject.version === null ? [] : [subject.version.text])];
    for (const key of new Set([keyOf(issue, null), ...versions.map((version) => keyOf(issue, { ...of, version }))])) {
      const same = index.get(key);
      if (same === undefined) index.set(key, [subject]);
      else same.push(subject);
    }
  }
  return index;
}

/** All spellings of a version have one key. */
function keyOf(issue: bigint, named: NamedPackage | null): string {
  if (named === null) return String(issue);
  const { identity, ecosystem, version } = named;
  const key = version === null || ecosystem === null ? version : (knownVersion(ecosystem, version)?.key ?? version);
  return JSON.stringify([String(issue), identity, key]);
}

/**
 * One `affected` entry of an OSV record: parsed once, then compared with many versions by OSV's published algorithm,
 * https://ossf.github.io/osv-schema/#evaluation.
 *
 * A version is affected if it is listed or in a range, otherwise unknown if a range cannot be compared with it, otherwise unaffected. The
 * verdict carries its evidence: the record's spelling of a listed version, and the part of the range that contains it. Ranges of commits
 * are not evaluated. Lists count as much as ranges: of 60,681 versions that 5,274 records of the Go team and the PyPA list, ranges alone
 * miss nine (`test/security/versions/real-records.test.ts`).
 *
 * GitHub leaves the range open where no version fixes an issue, and says apart which versions are known to be affected. A later version
 * would be a finding that no upgrade ends, so this bound narrows the open end. It is no fix, and never recommended as one.
 */
import type { Ecosystem } from "./ecosystem.ts";
import { compareVersions, publicVersion, readVersion, type KnownVersion, type VersionScheme, type Version } from "./version.ts";

/** The relevant fields of https://ossf.github.io/osv-schema/#affected-fields. */
export interface OsvAffected {
  ranges?: readonly OsvRange[] | undefined;
  versions?: readonly string[] | undefined;
  /** GitHub's `database_specific.last_known_affected_version_range`, such as `< 15.5.1`: https://github.com/github/advisory-database */
  lastKnown?: string | undefined;
}

export interface OsvRange {
  /** `SEMVER`, `ECOSYSTEM` or `GIT`. */
  type: string;
  events: readonly OsvEvent[];
}

export interface OsvEvent {
  introduced?: string | undefined;
  fixed?: string | undefined;
  last_affected?: string | undefined;
  limit?: string | undefined;
}

type OsvEventKind = keyof OsvEvent;

interface RangeEvent {
  kind: OsvEventKind;
  text: string;
  /** `introduced: "0"` is before every version, a limit of `*` after every version. */
  at: KnownVersion | "before all" | "after all";
}

type AffectedRange =
  /** Both are in order. */
  | {
      readable: true;
      index: number;
      scheme: VersionScheme;
      events: RangeEvent[];
      limits: RangeEvent[];
      lastKnown: RangeEvent | null;
    }
  /** An event that cannot be ordered makes the range unusable. */
  | { readable: false; index: number; scheme: VersionScheme; reason: string };

export interface Affected {
  ecosystem: Ecosystem;
  /** The listed versions by text and, if valid, also by version key. */
  listed: ReadonlyMap<string, string>;
  /** Without GIT ranges, whose events are commits. */
  ranges: AffectedRange[];
}

export function readAffected({ ecosystem, entry }: { ecosystem: Ecosystem; entry: OsvAffected }): Affected {
  const listed = new Map((entry.versions ?? []).map((text) => [text, text]));
  for (const text of entry.versions ?? []) {
    const version = readVersion({ scheme: ecosystem, text });
    if (version.known) listed.set(version.key, text);
  }
  const ranges = (entry.ranges ?? []).flatMap(({ type, events }, index) => {
    const scheme = schemeOf({ type, ecosystem });
    return scheme === null ? [] : [readRange({ index, scheme, events, lastKnown: entry.lastKnown })];
  });
  return { ecosystem, listed, ranges };
}

/** Why a version is affected. A record may give both reasons. */
export interface VerdictEvidence {
  /** The record's spelling of the version; null if it is not listed. */
  listed: string | null;
  /**
   * The range's index in the entry, and the part of it that contains the version, such as `>= 1.2.0, < 1.2.9`; null if none
   * does. `lastKnown`: whether that part ends where GitHub's last known affected version does.
   */
  range: { index: number; comparator: string; lastKnown?: true } | null;
}

export type Verdict =
  { state: "affected"; evidence: VerdictEvidence } | { state: "unaffected" } | { state: "unknown"; reason: string };

/** Affected if listed or in a range; otherwise unknown if a range cannot be compared with the version; otherwise unaffected. */
export function evaluate({ version, affected }: { version: Version; affected: Affected }): Verdict {
  const listed = listedAs({ version, affected });
  const verdict = joined(affected.ranges.map((range) => evaluateRange({ version, range })));
  if (listed === null) return verdict;
  return { state: "affected", evidence: { listed, range: verdict.state === "affected" ? verdict.evidence.range : null } };
}

/** Evaluates several entries: those of one record for one package, or of all records about it. */
export function evaluateAll({ version, entries }: { version: Version; entries: readonly Affected[] }): Verdict {
  return joined(entries.map((affected) => evaluate({ version, affected })));
}

/** Ecosystems with semantic versions parse SEMVER ranges by their own rules, which also accept that syntax. */
function schemeOf({ type, ecosystem }: { type: string; ecosystem: Ecosystem }): VersionScheme | null {
  if (type === "ECOSYSTEM") return ecosystem;
  if (type !== "SEMVER") return null;
  return ecosystem === "npm" || ecosystem === "Go" || ecosystem === "crates.io" ? ecosystem : "SemVer";
}

function readRange({
  index,
  scheme,
  events,
  lastKnown,
}: {
  index: number;
  scheme: VersionScheme;
  events: readonly OsvEvent[];
  lastKnown: string | undefined;
}): AffectedRange {
  const read = events.map((event) => readEvent({ scheme, event }));
  const unreadable = read.find((event) => typeof event === "string");
  if (unreadable !== undefined) return { readable: false, index, scheme, reason: unreadable };
  const readable = read.filter((event) => typeof event !== "string");
  const sorted = inSequence(readable.filter(({ kind }) => kind !== "limit").toSorted(compareEvents));
  const limits = readable.filter(({ kind }) => kind === "limit").toSorted(compareEvents);
  const bound = readLastKnown({ scheme, written: lastKnown, last: sorted.at(-1) });
  return { readable: true, index, scheme, events: sorted, limits, lastKnown: bound };
}

interface LastKnown {
  scheme: VersionScheme;
  written: string | undefined;
  /** The last event of the range. */
  last: RangeEvent | undefined;
}

/** @returns null if the range has an end of its own, or the bound cannot be read or is before the open part */
function readLastKnown({ scheme, written, last }: LastKnown): RangeEvent | null {
  if (written === undefined || last?.kind !== "introduced") return null;
  const [, sign, text = ""] = /^\s*(<=?)\s*(\S+)\s*$/.exec(written) ?? [];
  const at = readVersion({ scheme, text });
  if (sign === undefined || !at.known) return null;
  const event: RangeEvent = { kind: sign === "<" ? "fixed" : "last_affected", text, at };
  const order = compareEvents(last, event);
  return order < 0 || (order === 0 && sign === "<=") ? event : null;
}

const kinds: readonly OsvEventKind[] = ["introduced", "fixed", "last_affected", "limit"];

/** @returns why the event cannot be ordered; undefined if it can */
function readEvent({ scheme, event }: { scheme: VersionScheme; event: OsvEvent }): RangeEvent | string {
  const [kind, ...more] = kinds.filter((name) => event[name] !== undefined);
  const text = kind && event[kind];
  if (kind === undefined || text === undefined || more.length > 0)
    return "an event of the range is not exactly one of the four kinds";
  if (kind === "introduced" && text === "0") return { kind, text, at: "before all" };
  if (kind === "limit" && text.includes("*")) return { kind, text, at: "after all" };
  const at = readVersion({ scheme, text });
  return at.known ? { kind, text, at } : `the range's bound ${at.reason}`;
}

/**
 * At equal versions an end precedes an introduction if a range is still open, because it ends that range; otherwise it follows,
 * and both form an empty range. The published algorithm does not define ties; records contain them.
 */
function inSequence(sorted: RangeEvent[]): RangeEvent[] {
  const ties: RangeEvent[][] = [];
  for (const event of sorted) {
    const tie = ties.at(-1);
    if (tie?.[0] !== undefined && compareEvents(tie[0], event) === 0) tie.push(event);
    else ties.push([event]);
  }
  let isOpen = false;
  return ties.flatMap((tie) => {
    const begins = tie.filter(({ kind }) => kind === "introduced");
    const ends = tie.filter(({ kind }) => kind !== "introduced");
    const sequence = isOpen ? [...ends, ...begins] : [...begins, ...ends];
    isOpen = sequence.at(-1)?.kind === "introduced";
    return sequence;
  });
}

function compareEvents(left: RangeEvent, right: RangeEvent): number {
  if (left.at === right.at) return 0;
  if (left.at === "before all" || right.at === "after all") return -1;
  if (left.at === "after all" || right.at === "before all") return 1;
  return compareVersions(left.at, right.at);
}

/** By its text, otherwise by its meaning: `v1.0.0` is listed if `1.0.0` is. */
function listedAs({ version, affected: { ecosystem, listed } }: { version: Version; affected: Affected }): string | null {
  const byText = listed.get(version.text);
  if (byText !== undefined || !version.known || version.scheme !== ecosystem) return byText ?? null;
  return listed.get(version.key) ?? listed.get(publicVersion(version).key) ?? null;
}

function joined(verdicts: Verdict[]): Verdict {
  const affected = verdicts.find(({ state }) => state === "affected");
  return affected ?? verdicts.find(({ state }) => state === "unknown") ?? { state: "unaffected" };
}

function evaluateRange({ version, range }: { version: Version; range: AffectedRange }): Verdict {
  if (!range.readable) return { state: "unknown", reason: range.reason };
  const read =
    version.known && version.scheme === range.scheme ? version : readVersion({ scheme: range.scheme, text: version.text });
  if (!read.known) return { state: "unknown", reason: read.reason };
  if (!isBeforeLimits({ version: read, range })) return { state: "unaffected" };
  let since: RangeEvent | null = null;
  for (const event of range.events) since = afterEvent({ version: read, event, since });
  const isOpen = since !== null && since === range.events.findLast(({ kind }) => kind === "introduced");
  if (range.lastKnown !== null && isOpen) since = afterEvent({ version: read, event: range.lastKnown, since });
  if (since === null) return { state: "unaffected" };
  const comparator = comparatorOf({ version: read, range, since });
  const lastKnown = range.lastKnown !== null && isOpen;
  return {
    state: "affected",
    evidence: { listed: null, range: { index: range.index, comparator, ...(lastKnown && { lastKnown }) } },
  };
}

type ReadableRange = Extract<AffectedRange, { readable: true }>;

function isBeforeLimits({ version, range: { limits } }: { version: KnownVersion; range: ReadableRange }): boolean {
  return limits.length === 0 || limits.some((event) => orderTo({ version, event }) < 0);
}

function orderTo({ version, event: { kind, at } }: { version: KnownVersion; event: RangeEvent }): number {
  if (at === "before all") return 1;
  if (at === "after all") return -1;
  // `2.1.0+cu118` is among the versions `<= 2.1.0`.
  const isInclusive = kind === "last_affected" && at.publicAtoms === undefined;
  return compareVersions(isInclusive ? publicVersion(version) : version, at);
}

interface Passing {
  version: KnownVersion;
  event: RangeEvent;
  /** The event since which the version is affected, given the previous events. */
  since: RangeEvent | null;
}

/** @returns the event since which the version is affected, after this event */
function afterEvent({ version, event, since }: Passing): RangeEvent | null {
  const order = orderTo({ version, event });
  if (event.kind === "introduced") return order >= 0 ? (since ?? event) : since;
  const ended = event.kind === "fixed" ? order >= 0 : order > 0;
  return ended ? null : since;
}

/** The part of the range around the version, such as `>= 1.2.0, < 1.2.9`. */
function comparatorOf({ version, range, since }: { version: KnownVersion; range: ReadableRange; since: RangeEvent }): string {
  const ends = [range.events.find((event) => endsAfter({ version, event })) ?? range.lastKnown, range.limits.at(-1)];
  const [until] = ends.filter((event) => event !== undefined && event !== null).toSorted(compareEvents);
  const lower = `>= ${since.text}`;
  return until === undefined || until.at === "after all"
    ? lower
    : `${lower}, ${until.kind === "last_affected" ? "<=" : "<"} ${until.text}`;
}

function endsAfter({ version, event }: { version: KnownVersion; event: RangeEvent }): boolean {
  if (event.kind === "introduced") return false;
  const order = orderTo({ version, event });
  return event.kind === "fixed" ? order < 0 : order <= 0;
}

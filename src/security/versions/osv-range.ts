/**
 * Whether a version is affected, by the algorithm that OSV publishes, and why:
 * https://ossf.github.io/osv-schema/#evaluation
 */
import { compareEvents, type Affected, type AffectedRange, type RangeEvent } from "./osv-affected.ts";
import { compareVersions, readVersion, type KnownVersion, type Version } from "./version.ts";

/** A record may contain both forms. */
export interface Evidence {
  /** The record's spelling of the version; null if it is not listed. */
  listed: string | null;
  /**
   * The range's index in the entry, and the part of it that contains the version, such as `>= 1.2.0, < 1.2.9`; null if none
   * does.
   */
  range: { index: number; comparator: string } | null;
}

export type Verdict = { state: "affected"; evidence: Evidence } | { state: "unaffected" } | { state: "unknown"; reason: string };

type ReadableRange = Extract<AffectedRange, { readable: true }>;

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

function joined(verdicts: Verdict[]): Verdict {
  const affected = verdicts.find(({ state }) => state === "affected");
  return affected ?? verdicts.find(({ state }) => state === "unknown") ?? { state: "unaffected" };
}

/** By its text, or else by its meaning: `v1.0.0` is listed if `1.0.0` is. */
function listedAs({ version, affected: { ecosystem, listed } }: { version: Version; affected: Affected }): string | null {
  const byText = listed.get(version.text);
  if (byText !== undefined || !version.known || version.scheme !== ecosystem) return byText ?? null;
  return listed.get(version.key) ?? null;
}

function evaluateRange({ version, range }: { version: Version; range: AffectedRange }): Verdict {
  if (!range.readable) return { state: "unknown", reason: range.reason };
  const read =
    version.known && version.scheme === range.scheme ? version : readVersion({ scheme: range.scheme, text: version.text });
  if (!read.known) return { state: "unknown", reason: read.reason };
  if (!isBeforeLimits({ version: read, range })) return { state: "unaffected" };
  let since: RangeEvent | null = null;
  for (const event of range.events) since = afterEvent({ version: read, event, since });
  if (since === null) return { state: "unaffected" };
  const comparator = comparatorOf({ version: read, range, since });
  return { state: "affected", evidence: { listed: null, range: { index: range.index, comparator } } };
}

interface Passing {
  version: KnownVersion;
  event: RangeEvent;
  /** The event since which the version is affected, given the previous events. */
  since: RangeEvent | null;
}

/** @returns the event since which the version is affected, including this event */
function afterEvent({ version, event, since }: Passing): RangeEvent | null {
  const order = orderTo({ version, event });
  if (event.kind === "introduced") return order >= 0 ? (since ?? event) : since;
  const ended = event.kind === "fixed" ? order >= 0 : order > 0;
  return ended ? null : since;
}

function isBeforeLimits({ version, range: { limits } }: { version: KnownVersion; range: ReadableRange }): boolean {
  return limits.length === 0 || limits.some((event) => orderTo({ version, event }) < 0);
}

function orderTo({ version, event: { at } }: { version: KnownVersion; event: RangeEvent }): number {
  if (at === "before all") return 1;
  if (at === "after all") return -1;
  return compareVersions(version, at);
}

/** The part of the range around the version, such as `>= 1.2.0, < 1.2.9`. */
function comparatorOf({ version, range, since }: { version: KnownVersion; range: ReadableRange; since: RangeEvent }): string {
  const ends = [range.events.find((event) => endsAfter({ version, event })), range.limits.at(-1)];
  const [until] = ends.filter((event) => event !== undefined).toSorted(compareEvents);
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

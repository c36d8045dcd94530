/** An `affected` entry of an OSV record, parsed once to compare many versions with it. */
import type { Ecosystem } from "./ecosystem.ts";
import { compareVersions, readVersion, type KnownVersion, type VersionScheme } from "./version.ts";

/** The relevant fields of https://ossf.github.io/osv-schema/#affected-fields. */
export interface OsvAffected {
  ranges?: readonly OsvRange[] | undefined;
  versions?: readonly string[] | undefined;
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

export type EventKind = keyof OsvEvent;

export interface RangeEvent {
  kind: EventKind;
  text: string;
  /** `introduced: "0"` is before every version, a limit of `*` after every version. */
  at: KnownVersion | "before all" | "after all";
}

export type AffectedRange =
  /** Both in order. */
  | { readable: true; index: number; scheme: VersionScheme; events: RangeEvent[]; limits: RangeEvent[] }
  /** An event that cannot be ordered makes the range unusable. */
  | { readable: false; index: number; scheme: VersionScheme; reason: string };

export interface Affected {
  ecosystem: Ecosystem;
  /** The listed versions, by their texts and by the keys of the valid ones. */
  listed: ReadonlyMap<string, string>;
  /** Without those of type GIT, whose events are commits. */
  ranges: AffectedRange[];
}

const kinds: readonly EventKind[] = ["introduced", "fixed", "last_affected", "limit"];

export function readAffected({ ecosystem, entry }: { ecosystem: Ecosystem; entry: OsvAffected }): Affected {
  const listed = new Map((entry.versions ?? []).map((text) => [text, text]));
  for (const text of entry.versions ?? []) {
    const version = readVersion({ scheme: ecosystem, text });
    if (version.known) listed.set(version.key, text);
  }
  const ranges = (entry.ranges ?? []).flatMap(({ type, events }, index) => {
    const scheme = schemeOf({ type, ecosystem });
    return scheme === null ? [] : [readRange({ index, scheme, events })];
  });
  return { ecosystem, listed, ranges };
}

/** Ecosystems with semantic versions parse a SEMVER range by their own rules, which accept its spellings too. */
function schemeOf({ type, ecosystem }: { type: string; ecosystem: Ecosystem }): VersionScheme | null {
  if (type === "ECOSYSTEM") return ecosystem;
  if (type !== "SEMVER") return null;
  return ecosystem === "npm" || ecosystem === "Go" || ecosystem === "crates.io" ? ecosystem : "SemVer";
}

function readRange({
  index,
  scheme,
  events,
}: {
  index: number;
  scheme: VersionScheme;
  events: readonly OsvEvent[];
}): AffectedRange {
  const read = events.map((event) => readEvent({ scheme, event }));
  const unreadable = read.find((event) => typeof event === "string");
  if (unreadable !== undefined) return { readable: false, index, scheme, reason: unreadable };
  const readable = read.filter((event) => typeof event !== "string");
  const sorted = inSequence(readable.filter(({ kind }) => kind !== "limit").toSorted(compareEvents));
  const limits = readable.filter(({ kind }) => kind === "limit").toSorted(compareEvents);
  return { readable: true, index, scheme, events: sorted, limits };
}

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

export function compareEvents(left: RangeEvent, right: RangeEvent): number {
  if (left.at === right.at) return 0;
  if (left.at === "before all" || right.at === "after all") return -1;
  if (left.at === "after all" || right.at === "before all") return 1;
  return compareVersions(left.at, right.at);
}

/**
 * The packages that an issue affects, combined from all advisories about it, with ranges in readable form: `>= 1.2.0, < 1.2.9`. Records may
 * be truncated to the limits of a response; the totals still count everything.
 */
import { type Advisory, type AffectedPackage, lastKnownOf } from "../advisories/advisory.ts";
import { ecosystemNameOf } from "../findings/schema.ts";
import { vulnerabilityAffectedMax, vulnerabilityRangesMax } from "../limits.ts";
import { packageIdentity, type Ecosystem } from "../versions/ecosystem.ts";
import { readAffected, type OsvAffected, type OsvEvent, type OsvRange } from "../versions/osv-range.ts";
import type { AffectedView } from "./schema.ts";

/** An advisory whose last entries and versions may be missing. */
export interface BoundedRecord {
  advisory: Advisory;
  /** The number of all its entries. */
  entries: number;
  /** How many versions each of its entries lists in total. */
  versions: readonly number[];
}

interface Found {
  affected: AffectedView[];
  leftOut: { affected: number; ranges: number; fixed: number };
}

/** One item for each package, in the order of the advisories. */
export function affectedPackages(records: readonly BoundedRecord[]): Found {
  const packages = new Map<string, Merged>();
  let unseen = 0;
  for (const { advisory, entries, versions } of records) {
    unseen += entries - advisory.affected.length;
    for (const [index, entry] of advisory.affected.entries()) {
      if (entry.package !== null) merge(packages, { entry, named: entry.package, listed: versions[index] ?? 0 });
    }
  }
  const all = [...packages.values()];
  const shown = all.slice(0, vulnerabilityAffectedMax);
  const beyond = (field: "ranges" | "fixed") =>
    shown.reduce((sum, one) => sum + Math.max(0, one[field].size - vulnerabilityRangesMax), 0);
  return {
    affected: shown.map(view),
    leftOut: { affected: unseen + all.length - shown.length, ranges: beyond("ranges"), fixed: beyond("fixed") },
  };
}

interface Merged {
  ecosystem: string;
  name: string;
  ranges: Set<string>;
  fixed: Set<string>;
  versions: Set<string>;
  /** The number of versions in the longest list of any advisory. */
  listed: number;
}

interface Entry {
  entry: AffectedPackage;
  named: NonNullable<AffectedPackage["package"]>;
  listed: number;
}

function merge(packages: Map<string, Merged>, { entry, named, listed }: Entry): void {
  const { ecosystem, ecosystemName, name } = named;
  const key = ecosystem === null ? `${ecosystemName} ${name}` : packageIdentity({ ecosystem, name });
  const known = packages.get(key) ?? {
    ecosystem: ecosystem === null ? ecosystemName : ecosystemNameOf(ecosystem),
    name,
    ranges: new Set<string>(),
    fixed: new Set<string>(),
    versions: new Set<string>(),
    listed: 0,
  };
  packages.set(key, known);
  const ranges = entry.ranges.filter(({ type }) => type !== "GIT");
  for (const text of rangeTexts({ ecosystem, entry: { ranges, ...lastKnownOf(entry.databaseSpecific) } })) known.ranges.add(text);
  for (const event of ranges.flatMap(({ events }) => events)) if ("fixed" in event) known.fixed.add(event.fixed);
  for (const version of entry.versions) known.versions.add(version);
  known.listed = Math.max(known.listed, listed, known.versions.size);
}

/** @param ecosystem null: unknown, so the events keep the advisory's order */
function rangeTexts({ ecosystem, entry }: { ecosystem: Ecosystem | null; entry: OsvAffected }): string[] {
  const read = ecosystem === null ? [] : readAffected({ ecosystem, entry }).ranges;
  const sorted = new Map(read.flatMap((range) => (range.readable ? [[range.index, range] as const] : [])));
  return (entry.ranges ?? []).flatMap((range, index) => {
    const found = sorted.get(index);
    if (found === undefined) return textsOf(stepsOf(range), limitOf(range));
    return textsOf([...found.events, ...(found.lastKnown === null ? [] : [found.lastKnown])], limitOf(range));
  });
}

interface Step {
  kind: keyof OsvEvent;
  text: string;
}

/** One text for each `introduced` event, up to the next end of the range. */
function textsOf(steps: readonly Step[], limit: string | null): string[] {
  const texts: string[] = [];
  let since: string | null = null;
  for (const { kind, text } of steps) {
    if (kind === "introduced") since ??= text;
    else if (since !== null) {
      texts.push(`>= ${since}, ${kind === "fixed" ? "<" : "<="} ${text}`);
      since = null;
    }
  }
  if (since !== null) texts.push(limit === null ? `>= ${since}` : `>= ${since}, < ${limit}`);
  return texts;
}

function stepsOf({ events }: OsvRange): Step[] {
  const steps = events.map(({ introduced, fixed, last_affected: last }): Step | null => {
    if (introduced !== undefined) return { kind: "introduced", text: introduced };
    if (fixed !== undefined) return { kind: "fixed", text: fixed };
    return last === undefined ? null : { kind: "last_affected", text: last };
  });
  return steps.filter((step) => step !== null);
}

function limitOf({ events }: OsvRange): string | null {
  const [limit] = events.flatMap((event) => event.limit ?? []);
  return limit === undefined || limit.includes("*") ? null : limit;
}

function view({ ecosystem, name, ranges, fixed, versions, listed }: Merged): AffectedView {
  const first = (texts: ReadonlySet<string>) => [...texts].slice(0, vulnerabilityRangesMax);
  return {
    ecosystem,
    package: name,
    ranges: first(ranges),
    fixed: first(fixed),
    versions: first(versions),
    versions_total: listed,
  };
}

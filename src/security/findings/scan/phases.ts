/**
 * The two phases of a scan.
 *
 * Matching compares each version of each package of the SBOM with all known issues. It reads a page of versions at a time, and handles one
 * issue after another for that page, so all matches of an issue are in one transaction, and lists count it once.
 *
 * Resolving sets the findings that matching did not find again to `resolved`, and refreshes the product and the rank that findings copy
 * from their project and their issue. No finding is deleted: it may return, and people look up its history.
 *
 * Both phases run in slices. Steps are repeatable: the last transaction stores the cursor, so a scanner may be killed at any time.
 */
import type { Queries } from "../../../backing/backing.ts";
import { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import * as limits from "../../limits.ts";
import type { MatchCursor } from "../../scans/scan-progress.ts";
import { goneOutcome, type Cause } from "../transitions.ts";
import { loadIssues } from "./advisory-store.ts";
import { matchComponent, type Component, type PackageIssue, type Matched, type Unknown } from "./match.ts";
import { type Scan, recordMatches, recordUnknowns, scannerName } from "./record-matches.ts";
import * as store from "./resolve-store.ts";
import { selectComponents, type PackageVersion, countPositions, selectPackagesWithRecords, insertEvents } from "./scan-store.ts";

/** @returns whether the phase is finished; false: the slice is over, and `scan.progress` has the last step */
export async function matchDocument(scan: Scan & { sbom: string }): Promise<boolean> {
  const { sbom, sql, clock } = scan;
  const { cursor } = scan.progress;
  let { after, done }: Pick<MatchCursor, "after" | "done"> = cursor?.phase === "match" ? cursor : { after: null, done: null };
  const writer = new MatchWriter(scan);
  for (const packages of await packagesToMatch({ sbom, from: after === null ? null : BigInt(after.package) }, sql)) {
    const yielder = new EventLoopYielder(clock);
    const issues = await loadIssues(packages, { sql, yielder });
    for (let more = true; more;) {
      const page = await selectComponents({ sbom, packages, after, limit: limits.scanComponentsMax }, sql);
      for (const { components, issue } of pairsOf(page, issues)) {
        const pair = { package: String(components[0].package), vulnerability: String(issue.vulnerability) };
        if (done !== null && !isBehind(pair, done)) continue;
        await writer.take(await matchWith(components, issue, yielder), { phase: "match", after, done: pair });
        if (scan.lease.isSliceOver) return writer.end();
      }
      if (page.some((component) => String(component.package) === done?.package)) done = null;
      after = placeOf(page.at(-1)) ?? after;
      more = page.length === limits.scanComponentsMax;
    }
    if (scan.lease.isSliceOver) return writer.end({ phase: "match", after, done });
  }
  await writer.end();
  return true;
}

/** Collects the matches of a scan, and writes them in transactions of a few hundred rows. */
class MatchWriter {
  readonly #scan: Scan & { sbom: string };
  #waiting: Matched = { matches: [], unknowns: [] };
  #cursor: MatchCursor | null = null;
  /** The last package with unknown matches, and its versions that have one. */
  #noted = { package: 0n, versions: new Set<string>() };

  constructor(scan: Scan & { sbom: string }) {
    this.#scan = scan;
  }

  /** @param cursor the position of the scan after these matches */
  async take({ matches, unknowns }: Matched, cursor: MatchCursor): Promise<void> {
    const waiting = this.#waiting.matches.length + this.#waiting.unknowns.length;
    if (waiting > 0 && waiting + matches.length + unknowns.length > limits.scanFindingsMax) await this.#write();
    this.#waiting.matches.push(...matches);
    this.#waiting.unknowns.push(...unknowns.filter((unknown) => this.#keeps(unknown)));
    this.#cursor = cursor;
  }

  /** Writes what is left. @returns false: the scan is not finished */
  async end(cursor = this.#cursor): Promise<false> {
    this.#cursor = cursor;
    if (cursor !== null) await this.#write();
    return false;
  }

  /** The last transaction stores the cursor. After a crash, rows that were written before it are written again, unchanged. */
  async #write(): Promise<void> {
    const { matches, unknowns } = this.#waiting;
    this.#waiting = { matches: [], unknowns: [] };
    if (unknowns.length > 0) await recordUnknowns(unknowns, this.#scan);
    this.#scan.progress.cursor = this.#cursor;
    await recordMatches(matches, this.#scan);
  }

  /** Keeps at least one unknown match per version, so that no version looks as if it could be compared with every range. */
  #keeps({ package: id, version }: Unknown): boolean {
    const { progress } = this.#scan;
    if (this.#noted.package !== id) this.#noted = { package: id, versions: new Set() };
    const keeps = progress.unknown < limits.projectUnknownsMax || !this.#noted.versions.has(version);
    this.#noted.versions.add(version);
    if (keeps) progress.unknown++;
    else progress.unknownLeftOut++;
    return keeps;
  }
}

/** @returns whether the phase is finished; false: the slice is over, and `scan.progress` has the last step */
export async function resolveUnseen(scan: Scan): Promise<boolean> {
  const { lease, progress, sql, at, signal } = scan;
  const { project } = lease;
  let after: store.FindingPosition | null = progress.cursor?.phase === "rest" ? progress.cursor : null;
  for (;;) {
    signal.throwIfAborted();
    const upto: store.FindingPosition | null =
      (await store.selectPositionAfter({ project, after, steps: limits.scanLookedThroughMax }, sql)) ?? null;
    const stale = await store.selectStale({ project, since: at, after, upto }, sql);
    for (let from = 0; from < stale.length; from += limits.scanFindingsMax) {
      signal.throwIfAborted();
      progress.resolved += await resolveAndRefresh(stale.slice(from, from + limits.scanFindingsMax), scan);
    }
    if (upto === null) return true;
    progress.cursor = { phase: "rest", ...upto };
    await lease.hold(async () => {}, progress);
    if (lease.isSliceOver) return false;
    after = upto;
  }
}

/**
 * The packages of an SBOM that have advisories, grouped by package id. A group has few components, unless one package alone has many.
 * @param from the first package; null: all packages
 */
async function packagesToMatch({ sbom, from }: { sbom: string; from: bigint | null }, sql: Queries): Promise<bigint[][]> {
  const components = new Map<bigint, number>();
  const positions = await countPositions(sbom, sql);
  for (let at = 0; at < positions; at += limits.scanPositionsMax) {
    const some = await selectPackagesWithRecords({ sbom, from: at, positions: limits.scanPositionsMax, least: from }, sql);
    for (const { id, components: more } of some) components.set(id, (components.get(id) ?? 0) + more);
  }
  const packages = [...components.keys()].toSorted((a, b) => (a < b ? -1 : 1));
  return groupsOf(packages, components);
}

function groupsOf(packages: readonly bigint[], components: ReadonlyMap<bigint, number>): bigint[][] {
  const groups: bigint[][] = [];
  let size = 0;
  for (const id of packages) {
    const own = components.get(id) ?? 0;
    const group = groups.at(-1);
    if (group === undefined || group.length === limits.scanPackagesMax || size + own > limits.scanComponentsMax) {
      groups.push([id]);
      size = own;
    } else {
      group.push(id);
      size += own;
    }
  }
  return groups;
}

interface Pair {
  /** Versions of one package. */
  components: readonly [Component, ...Component[]];
  issue: PackageIssue;
}

function* pairsOf(page: readonly Component[], issues: ReadonlyMap<bigint, readonly PackageIssue[]>): Generator<Pair> {
  for (const [id, [first, ...others]] of Map.groupBy(page, (component) => component.package)) {
    const known = (issues.get(id) ?? []).toSorted((a, b) => (a.vulnerability < b.vulnerability ? -1 : 1));
    if (first !== undefined) for (const issue of known) yield { components: [first, ...others], issue };
  }
}

function isBehind(pair: { package: string; vulnerability: string }, done: { package: string; vulnerability: string }): boolean {
  const [own, last] = [BigInt(pair.package), BigInt(done.package)];
  return own === last ? BigInt(pair.vulnerability) > BigInt(done.vulnerability) : own > last;
}

async function matchWith(components: readonly Component[], issue: PackageIssue, yielder: EventLoopYielder): Promise<Matched> {
  const matched: Matched = { matches: [], unknowns: [] };
  for (const component of components) {
    const { matches, unknowns } = matchComponent(component, [issue]);
    matched.matches.push(...matches);
    matched.unknowns.push(...unknowns);
    await yielder.yieldIfDue();
  }
  return matched;
}

function placeOf(component: { package: bigint; key: string } | undefined): PackageVersion | null {
  return component === undefined ? null : { package: String(component.package), version: component.key };
}

/** @returns how many findings were resolved */
function resolveAndRefresh(findings: readonly string[], { lease, sbom, at }: Scan): Promise<number> {
  return lease.hold(async (tx, { product }) => {
    const gone = await store.selectUnseen({ findings, since: at }, tx);
    if (gone.length > 0) {
      const inDocument = sbom === null ? new Set() : await store.selectInDocument({ sbom, findings: gone }, tx);
      const events = gone.map((row) => {
        const { cause, changes } = goneOutcome(
          { ...row, present: true },
          inDocument.has(row.id) ? causeOf(row) : "component_gone",
        );
        return { finding: row.id, cause, changes };
      });
      await store.updateToGone(
        gone.map(({ id }) => id),
        tx,
      );
      await insertEvents(events, { actor: scannerName, at }, tx);
    }
    await store.updateCopies({ findings, product }, tx);
    return gone.length;
  });
}

function causeOf({ ended, withdrawn }: store.UnseenRow): Cause {
  if (ended) return "issue_joined";
  return withdrawn ? "withdrawn" : "not_affected";
}

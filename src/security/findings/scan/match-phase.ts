/**
 * The first phase of a scan matches each version of each package of the SBOM against all known issues. It takes a page of versions at a
 * time, and for the page one issue after another: the matches of one issue are then in one transaction, and lists count it once.
 */
import { scanComponentsMax } from "../../limits.ts";
import { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import type { MatchCursor } from "../../scans/scan-progress.ts";
import { loadIssues } from "./load-issues.ts";
import { matchComponent, type Component, type Issue, type Matched } from "./match.ts";
import { MatchWriter } from "./match-writer.ts";
import type { Scan } from "./scan.ts";
import { selectComponents, type PackageVersion } from "./scan-store.ts";
import { packagesToMatch } from "./packages-to-match.ts";

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
      const page = await selectComponents({ sbom, packages, after, limit: scanComponentsMax }, sql);
      for (const { components, issue } of pairsOf(page, issues)) {
        const pair = { package: String(components[0].package), vulnerability: String(issue.vulnerability) };
        if (done !== null && !isBehind(pair, done)) continue;
        await writer.take(await matchWith(components, issue, yielder), { phase: "match", after, done: pair });
        if (scan.lease.isSliceOver) return writer.end();
      }
      if (page.some((component) => String(component.package) === done?.package)) done = null;
      after = placeOf(page.at(-1)) ?? after;
      more = page.length === scanComponentsMax;
    }
    if (scan.lease.isSliceOver) return writer.end({ phase: "match", after, done });
  }
  await writer.end();
  return true;
}

interface Pair {
  /** Versions of one package. */
  components: readonly [Component, ...Component[]];
  issue: Issue;
}

function* pairsOf(page: readonly Component[], issues: ReadonlyMap<bigint, readonly Issue[]>): Generator<Pair> {
  for (const [id, [first, ...others]] of Map.groupBy(page, (component) => component.package)) {
    const known = (issues.get(id) ?? []).toSorted((a, b) => (a.vulnerability < b.vulnerability ? -1 : 1));
    if (first !== undefined) for (const issue of known) yield { components: [first, ...others], issue };
  }
}

function isBehind(pair: { package: string; vulnerability: string }, done: { package: string; vulnerability: string }): boolean {
  const [own, last] = [BigInt(pair.package), BigInt(done.package)];
  return own === last ? BigInt(pair.vulnerability) > BigInt(done.vulnerability) : own > last;
}

async function matchWith(components: readonly Component[], issue: Issue, yielder: EventLoopYielder): Promise<Matched> {
  const matched: Matched = { matches: [], unknowns: [] };
  for (const component of components) {
    const { matches, unknowns } = matchComponent(component, [issue]);
    matched.matches.push(...matches);
    matched.unknowns.push(...unknowns);
    await yielder.yieldIfDue();
  }
  return matched;
}

function placeOf(component: Component | undefined): PackageVersion | null {
  return component === undefined ? null : { package: String(component.package), version: component.version ?? "" };
}

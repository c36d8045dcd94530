/** The first half of a scan: each version of each package of the document against all that is known of it. */
import { scanComponentsMax, scanFindingsMax, projectUnknownsMax } from "../limits/tools.ts";
import { Turns } from "../process/turns.ts";
import type { Pass } from "../scans/pass.ts";
import { loadIssues } from "./load-issues.ts";
import { matchComponent, type Component, type Issue, type Matched, type Unknown } from "./match.ts";
import { recordMatches, recordUnknowns } from "./record-matches.ts";
import type { Scan } from "./scan.ts";
import { selectComponents, type VersionPlace } from "./scan-store.ts";
import { packagesToMatch } from "./spoken-of.ts";

/** @returns whether it came to its end; else the slice is over, and the pass says how far it came */
export async function matchDocument(scan: Scan & { sbom: string }): Promise<boolean> {
  const { cursor } = scan.pass;
  const { sbom } = scan;
  let after: VersionPlace | null = cursor?.phase === "match" ? cursor : null;
  const from = after === null ? null : BigInt(after.package);
  const writer = new MatchWriter(scan);
  for (const packages of await packagesToMatch({ sbom, from }, scan.sql)) {
    const turns = new Turns(scan.clock);
    const issues = await loadIssues(packages, { sql: scan.sql, turns });
    for (let more = true; more;) {
      const page = await selectComponents({ sbom, packages, after, limit: scanComponentsMax }, scan.sql);
      for (const component of page) {
        await writer.take(component, await matchWith(component, issues.get(component.package) ?? [], turns));
        if (scan.lease.isSliceOver) return writer.end();
        after = placeOf(component);
      }
      more = page.length === scanComponentsMax;
    }
  }
  await writer.end();
  return true;
}

async function matchWith(component: Component, issues: readonly Issue[], turns: Turns): Promise<Matched> {
  const matched: Matched = { matches: [], unknowns: [] };
  for (const issue of issues) {
    const { matches, unknowns } = matchComponent(component, [issue]);
    matched.matches.push(...matches);
    matched.unknowns.push(...unknowns);
    await turns.rest();
  }
  return matched;
}

function placeOf({ package: id, version }: Component): VersionPlace {
  return { package: String(id), version: version ?? "" };
}

/** Gathers what is to be written, and writes it in transactions of some hundred rows. */
class MatchWriter {
  readonly #scan: Scan & { sbom: string };
  #waiting: Matched = { matches: [], unknowns: [] };
  #last: VersionPlace | null = null;

  constructor(scan: Scan & { sbom: string }) {
    this.#scan = scan;
  }

  /** What a component came to, all of it. */
  async take(component: Component, { matches, unknowns }: Matched): Promise<void> {
    this.#waiting.matches.push(...matches);
    this.#waiting.unknowns.push(...keptOf(unknowns, this.#scan.pass));
    this.#last = placeOf(component);
    if (this.#waiting.matches.length + this.#waiting.unknowns.length >= scanFindingsMax) await this.#write();
  }

  /** @returns false: there is more to do */
  async end(): Promise<false> {
    if (this.#last !== null) await this.#write();
    return false;
  }

  /** The pass moves with the last of it: what was written before and not noted is written once more, which changes nothing. */
  async #write(): Promise<void> {
    const { matches, unknowns } = this.#waiting;
    const cursor = this.#last;
    this.#waiting = { matches: [], unknowns: [] };
    for (let at = 0; at < unknowns.length; at += scanFindingsMax) {
      await recordUnknowns(unknowns.slice(at, at + scanFindingsMax), this.#scan);
    }
    const { pass } = this.#scan;
    for (let at = 0; at === 0 || at < matches.length; at += scanFindingsMax) {
      const isLast = at + scanFindingsMax >= matches.length;
      if (isLast && cursor !== null) pass.cursor = { phase: "match", ...cursor };
      await recordMatches(matches.slice(at, at + scanFindingsMax), { scan: this.#scan, further: isLast ? pass : null });
    }
  }
}

/** One for each version at least, so that none of them looks as if it could be held against everything. */
function keptOf(unknowns: readonly Unknown[], pass: Pass): Unknown[] {
  const room = Math.max(projectUnknownsMax - pass.unknown, 1);
  const kept = unknowns.slice(0, room);
  pass.unknown += kept.length;
  pass.unknownLeftOut += unknowns.length - kept.length;
  return kept;
}

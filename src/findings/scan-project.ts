/** One scan: the components of a project's present document against all that is known of their packages. */
import type { Database } from "../backing/backing.ts";
import type { Clock } from "../kernel/clock.ts";
import { scanFindingsMax, scanPackagesMax } from "../limits/tools.ts";
import type { Lease } from "../scans/lease.ts";
import { loadIssues } from "./load-issues.ts";
import { matchComponent, type Matched } from "./match.ts";
import { pairOf, recordMatches, recordUnknowns } from "./record-matches.ts";
import { resolveGone } from "./resolve-gone.ts";
import { deleteOtherUnknowns, selectComponents, selectLastSeen, selectSpokenOf, updateCopies } from "./scan-store.ts";
import { Turns } from "../process/turns.ts";

export interface ScanningParts {
  sql: Database;
  clock: Clock;
}

/** What a scan came to. */
export interface Scanned {
  findings: number;
  resolved: number;
  unknown: number;
}

/**
 * In short steps, each of which may be repeated: a scan that ends in the middle has done nothing that the next one does not do again.
 * @throws LeaseLostError, or the signal's reason between two steps
 */
export async function scanProject(lease: Lease, parts: ScanningParts, signal: AbortSignal): Promise<Scanned> {
  const { sql, clock } = parts;
  const { workspace, sbom, asked } = await lease.subject();
  const before = await selectLastSeen(lease.project, sql);
  const at = new Date(Math.max(clock.now(), (before?.getTime() ?? 0) + 1));
  let findings = 0;
  let unknown = 0;
  const packages = sbom === null ? [] : await selectSpokenOf(sbom, sql);
  for (let from = 0; sbom !== null && from < packages.length; from += scanPackagesMax) {
    const some = packages.slice(from, from + scanPackagesMax);
    const matched = await matchPackages({ sbom, packages: some }, parts);
    unknown += matched.unknowns.length;
    for (const batch of batchesOf(some, packageOf, matched.unknowns)) {
      signal.throwIfAborted();
      await recordUnknowns({ packages: batch.keys, unknowns: batch.rows }, lease);
    }
    for (const { rows } of batchesOf([...new Set(matched.matches.map(pairOf))], pairOf, matched.matches)) {
      signal.throwIfAborted();
      findings += await recordMatches(rows, { lease, workspace, sbom, at });
    }
  }
  signal.throwIfAborted();
  const resolved = await resolveGone({ lease, sbom, at }, sql);
  await lease.hold(async (tx, { product }) => {
    await deleteOtherUnknowns({ project: lease.project, packages }, tx);
    await updateCopies({ project: lease.project, product }, tx);
  });
  await lease.complete(asked);
  return { findings, resolved, unknown };
}

async function matchPackages(
  { sbom, packages }: { sbom: string; packages: readonly bigint[] },
  { sql, clock }: ScanningParts,
): Promise<Matched> {
  const turns = new Turns(clock);
  const issues = await loadIssues(packages, { sql, turns });
  const matched: Matched = { matches: [], unknowns: [] };
  for (const component of await selectComponents({ sbom, packages }, sql)) {
    for (const issue of issues.get(component.package) ?? []) {
      const { matches, unknowns } = matchComponent(component, [issue]);
      matched.matches.push(...matches);
      matched.unknowns.push(...unknowns);
      await turns.rest();
    }
  }
  return matched;
}

function packageOf(row: { package: bigint }): bigint {
  return row.package;
}

interface BatchOf<Key, Row> {
  keys: Key[];
  rows: Row[];
}

/** In batches of some hundred rows, in the order of their keys, each of which is in one batch with all of its rows. */
function batchesOf<Key, Row>(keys: readonly Key[], keyOf: (row: Row) => Key, rows: readonly Row[]): BatchOf<Key, Row>[] {
  const rowsByKey = Map.groupBy(rows, keyOf);
  const batches: BatchOf<Key, Row>[] = [];
  for (const key of keys) {
    const own = rowsByKey.get(key) ?? [];
    const last = batches.at(-1);
    if (last === undefined || last.rows.length + own.length > scanFindingsMax) batches.push({ keys: [key], rows: own });
    else {
      last.keys.push(key);
      last.rows.push(...own);
    }
  }
  return batches;
}

/** New states of records, and all that follows from them, in the transaction of an import. */
import type { Transaction } from "../backing/backing.ts";
import { askScansOf } from "../scans/ask.ts";
import type { PackageName } from "../versions/package-name.ts";
import { packageIdentity, packageIds } from "../versions/store.ts";
import type { Advisory } from "./advisory.ts";
import { groupAliases } from "./alias-groups.ts";
import { selectIssues } from "./issue-store.ts";
import { regroup, type Regrouping, type StoredIssue } from "./regroup.ts";
import {
  replaceAffected,
  replaceAliases,
  selectClaims,
  selectJoined,
  selectPackages,
  upsertAdvisories,
  type AdvisoryRow,
  type AffectedRow,
} from "./store.ts";
import { storeIssues } from "./store-issues.ts";

/** A record that is to be stored. */
export interface Candidate {
  advisory: Advisory;
  /** As it came. */
  raw: unknown;
  /** In hexadecimal. */
  digest: string;
}

/** @returns how many projects are to be scanned again */
export async function storeRecords(
  { records, at }: { records: readonly Candidate[]; at: Date },
  tx: Transaction,
): Promise<number> {
  const advisories = records.map(({ advisory }) => advisory);
  const ids = advisories.map(({ id }) => id);
  const entries = advisories.flatMap(entriesOf);
  const packages = await packageIds(
    entries.map(({ name }) => name),
    tx,
  );
  const { before, regrouping } = await regroupWith(advisories, tx);
  const concerned = [...new Set([...ids, ...namesThatMove(regrouping, before)])];
  const packagesBefore = await selectPackages(concerned, tx);
  // Projects are locked before findings, as scans do it, so that nobody waits in a circle.
  const scans = await askScansOf({ packages: [...new Set([...packagesBefore, ...packages.values()])], at }, tx);
  await upsertAdvisories({ rows: records.map(rowOf), at }, tx);
  await replaceAliases(advisories, tx);
  const rows = entries.map(({ name, ...row }): AffectedRow => ({ ...row, package: idOf(name, packages) }));
  await replaceAffected({ advisories: ids, rows }, tx);
  await storeIssues({ regrouping, advisories, at }, tx);
  return scans;
}

/** Of all that aliases join with these records, before or now. */
async function regroupWith(
  advisories: readonly Advisory[],
  tx: Transaction,
): Promise<{ before: StoredIssue[]; regrouping: Regrouping }> {
  const joined = await selectJoined(
    advisories.flatMap(({ id, aliases }) => [id, ...aliases]),
    tx,
  );
  const before = await selectIssues(joined, tx);
  const replaced = new Set(advisories.map(({ id }) => id));
  const others = (await selectClaims(joined, tx)).filter(({ id }) => !replaced.has(id));
  return { before, regrouping: regroup({ before, after: groupAliases([...others, ...advisories]) }) };
}

/** Names of issues that are others now than they were: what their records say counts for another issue. */
function namesThatMove({ kept, begun, ended }: Regrouping, before: readonly StoredIssue[]): string[] {
  const renamed = kept.filter((one) => one.renamed);
  const issues = new Set([...renamed, ...ended].map(({ issue }) => issue));
  const groups = [...before.filter(({ id }) => issues.has(id)), ...renamed, ...begun].map(({ group }) => group);
  return groups.flatMap(({ ids, shared }) => [...ids, ...shared]);
}

type NamedEntry = Omit<AffectedRow, "package"> & { name: PackageName };

/** Commits are no versions: what a record says of them is kept in the record alone. */
function entriesOf({ id, affected }: Advisory): NamedEntry[] {
  return affected.flatMap(({ package: told, ranges, versions }, position) => {
    if (told === null || told.ecosystem === null) return [];
    const entry = {
      ranges: ranges.filter(({ type }) => type !== "GIT").map(({ type, events }) => ({ type, events })),
      versions,
    };
    return [{ advisory: id, position, name: { ecosystem: told.ecosystem, name: told.name }, entry }];
  });
}

function idOf(name: PackageName, ids: ReadonlyMap<string, bigint>): bigint {
  const id = ids.get(packageIdentity(name));
  if (id === undefined) throw new Error(`The package "${packageIdentity(name)}" was given no id`);
  return id;
}

function rowOf({ advisory: { id, modified, withdrawn, aliases }, raw, digest }: Candidate): AdvisoryRow {
  return { id, modified, withdrawn: withdrawn !== null, aliases, digest, record: raw };
}

/** Stores new states of records, and updates issues, findings and scan requests in the transaction of an import. */
import type { Transaction } from "../../../backing/backing.ts";
import { requestScansOf } from "../../scans/request-scan.ts";
import { packageIdentity, type PackageName } from "../../versions/package-name.ts";
import { packageIds, withOtherSpellings } from "../../versions/store.ts";
import { groupAliases, type RecordAliases } from "../issues/alias-groups.ts";
import { selectIssues } from "../issues/issue-store.ts";
import type { PreparedRecord } from "./prepared-record.ts";
import { regroup, type Regrouping, type StoredIssue } from "../issues/regroup.ts";
import {
  replaceAffected,
  replaceAliases,
  selectRecordAliases,
  selectJoined,
  selectPackages,
  upsertAdvisories,
  type AdvisoryRow,
  type AffectedRow,
} from "./store.ts";
import { storeIssues } from "./store-issues.ts";

/** @returns the number of projects whose scan was requested */
export async function storeRecords(
  { records, at }: { records: readonly PreparedRecord[]; at: Date },
  tx: Transaction,
): Promise<number> {
  const ids = records.map(({ id }) => id);
  const packages = await packageIds(
    records.flatMap(({ names }) => names),
    tx,
  );
  const { before, regrouping } = await regroupWith(records, tx);
  const names = [...new Set([...ids, ...namesOfChangedIssues(regrouping, before)])];
  const packagesBefore = await selectPackages(names, tx);
  // Projects are locked before findings, as in scans, to avoid deadlocks.
  const affected = await withOtherSpellings([...packagesBefore, ...packages.values()], tx);
  const scans = await requestScansOf({ packages: affected, at }, tx);
  await upsertAdvisories({ rows: records.map(rowOf), at }, tx);
  await replaceAliases(records, tx);
  const rows = records.flatMap((record) => affectedBy(record, packages));
  const entryElements = records.flatMap((record) => (record.names.length === 0 ? [] : [record.entryElements])).join(",");
  await replaceAffected({ advisories: ids, rows, entryElements }, tx);
  await storeIssues({ regrouping, facts: records.map(({ facts }) => facts), at }, tx);
  return scans;
}

/** Regroups all records that aliases connect with these, before or now. */
async function regroupWith(
  advisories: readonly RecordAliases[],
  tx: Transaction,
): Promise<{ before: StoredIssue[]; regrouping: Regrouping }> {
  const joined = await selectJoined(
    advisories.flatMap(({ id, aliases }) => [id, ...aliases]),
    tx,
  );
  const before = await selectIssues(joined, tx);
  const replaced = new Set(advisories.map(({ id }) => id));
  const others = (await selectRecordAliases(joined, tx)).filter(({ id }) => !replaced.has(id));
  return { before, regrouping: regroup({ before, after: groupAliases([...others, ...advisories]) }) };
}

/** Names of changed issues: their records count for another issue now. */
function namesOfChangedIssues({ continued, added, ended }: Regrouping, before: readonly StoredIssue[]): string[] {
  const renamed = continued.filter((one) => one.renamed);
  const issues = new Set([...renamed, ...ended].map(({ issue }) => issue));
  const groups = [...before.filter(({ id }) => issues.has(id)), ...renamed, ...added].map(({ group }) => group);
  return groups.flatMap(({ ids, shared }) => [...ids, ...shared]);
}

function affectedBy({ id, names, positions }: PreparedRecord, packages: ReadonlyMap<string, bigint>): AffectedRow[] {
  return names.map((name, index) => ({ advisory: id, position: positions[index] ?? 0, package: idOf(name, packages) }));
}

function idOf(name: PackageName, ids: ReadonlyMap<string, bigint>): bigint {
  const id = ids.get(packageIdentity(name));
  if (id === undefined) throw new Error(`The package "${packageIdentity(name)}" has no id`);
  return id;
}

function rowOf({ id, modified, aliases, digest, facts: { withdrawn }, recordElement }: PreparedRecord): AdvisoryRow {
  return { id, modified, withdrawn, aliases, digest, recordElement };
}

/**
 * Imports a batch of records in one transaction: stores the records, regroups the issues that they are about, moves findings and decisions
 * of merged and split issues, and requests scans of the projects that have an affected package.
 *
 * A record replaces the stored one unless its `modified` is older; an invalid record is reported by its index and does not stop the others.
 * Importing a batch again changes nothing. A lock makes imports take turns, because each of two would group without the other's records.
 * Projects are locked before findings, as in scans; a deadlock with a scan is retried.
 */
import { type Database, type Transaction, allowStatements } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { errorCode } from "../../kernel/error-code.ts";
import { EventLoopYielder } from "../../process/event-loop-yielder.ts";
import { advisoryBatchAttemptsMax, advisoryBatchMs } from "../limits.ts";
import { requestScansOf } from "../scans/store.ts";
import { packageIdentity, type PackageName } from "../versions/ecosystem.ts";
import { packageIds, withOtherSpellings } from "../versions/store.ts";
import { isNotOlder } from "./advisory.ts";
import { groupAliases, type RecordAliases, regroup, type Regrouping, type StoredIssue, type AliasGroup } from "./alias-groups.ts";
import { noteImported } from "./sync-store.ts";
import { issueFrom, recordsOf, type IssueFacts } from "./issue.ts";
import { readRecord, type PreparedRecord, ReadRecord } from "./read-body.ts";
import * as store from "./store.ts";

export interface Imported {
  /** Records that are new or replaced an older state. */
  imported: number;
  /** Records that were already stored, in the same or a newer state. */
  unchanged: number;
  failures: RecordFailure[];
  /** The number of projects whose scan was requested. */
  scans: number;
}

interface RecordFailure {
  /** The record's index in the batch. */
  index: number;
  reason: string;
}

/** Imports a batch. @param records parsed values, or records that a subprocess read */
export async function importRecords(
  records: readonly unknown[],
  { sql, clock }: { sql: Database; clock: Clock },
): Promise<Imported> {
  const at = new Date(clock.now());
  const { candidates, failures } = await readAll(records, new EventLoopYielder(clock));
  const latest = latestOf(candidates);
  const done = await withoutDeadlock(() => sql.begin((tx) => storeCandidates([...latest.values()], at, tx)));
  return { ...done, unchanged: candidates.length - done.imported, failures };
}

async function readAll(
  records: readonly unknown[],
  yielder: EventLoopYielder,
): Promise<{ candidates: PreparedRecord[]; failures: RecordFailure[] }> {
  const candidates: PreparedRecord[] = [];
  const failures: RecordFailure[] = [];
  for (const [index, raw] of records.entries()) {
    const read = raw instanceof ReadRecord ? raw.read : readRecord(raw);
    if ("reason" in read) failures.push({ index, reason: read.reason });
    else candidates.push(read);
    await yielder.yieldIfDue();
  }
  return { candidates, failures };
}

/** The newest state of each record in a batch; the last one among equals. */
function latestOf(candidates: readonly PreparedRecord[]): Map<string, PreparedRecord> {
  const latest = new Map<string, PreparedRecord>();
  for (const candidate of candidates) {
    const { id, modified } = candidate;
    const stored = latest.get(id)?.modified;
    if (stored === undefined || isNotOlder({ candidate: modified, stored })) latest.set(id, candidate);
  }
  return latest;
}

/** Retries after a deadlock with a scan that locks the same findings in another order: the database then cancels one of the two. */
async function withoutDeadlock<T>(attempt: () => Promise<T>): Promise<T> {
  for (let made = 1; ; made++) {
    try {
      return await attempt();
    } catch (error) {
      const isDeadlock = errorCode(error) === "40P01";
      if (!isDeadlock || made === advisoryBatchAttemptsMax) throw error;
    }
  }
}

async function storeCandidates(
  candidates: readonly PreparedRecord[],
  at: Date,
  tx: Transaction,
): Promise<Pick<Imported, "imported" | "scans">> {
  await allowStatements(advisoryBatchMs, tx);
  await store.lockImports(tx);
  const ids = candidates.map(({ id }) => id);
  const stored = await store.selectFacts(ids, tx);
  await noteImported({ records: candidates, at }, tx);
  const changed = candidates.filter((candidate) => replaces(candidate, stored.get(candidate.id)));
  return { imported: changed.length, scans: changed.length === 0 ? 0 : await storeRecords({ records: changed, at }, tx) };
}

function replaces({ modified, digest }: PreparedRecord, stored: store.StoredFacts | undefined): boolean {
  if (stored === undefined) return true;
  return digest !== stored.digest && isNotOlder({ candidate: modified, stored: stored.modified });
}

/** @returns the number of projects whose scan was requested */
async function storeRecords({ records, at }: { records: readonly PreparedRecord[]; at: Date }, tx: Transaction): Promise<number> {
  const ids = records.map(({ id }) => id);
  const packages = await packageIds(
    records.flatMap(({ names }) => names),
    tx,
  );
  const { before, regrouping } = await regroupWith(records, tx);
  const names = [...new Set([...ids, ...namesOfChangedIssues(regrouping, before)])];
  const packagesBefore = await store.selectPackages(names, tx);
  // Projects are locked before findings, as in scans, to avoid deadlocks.
  const affected = await withOtherSpellings([...packagesBefore, ...packages.values()], tx);
  const scans = await requestScansOf({ packages: affected, at }, tx);
  await store.upsertAdvisories({ rows: records.map(rowOf), at }, tx);
  await store.replaceAliases(records, tx);
  const rows = records.flatMap((record) => affectedBy(record, packages));
  const entryElements = records.flatMap((record) => (record.names.length === 0 ? [] : [record.entryElements])).join(",");
  await store.replaceAffected({ advisories: ids, rows, entryElements }, tx);
  await storeIssues({ regrouping, facts: records.map(({ facts }) => facts), at }, tx);
  return scans;
}

/** Regroups all records that are or were connected with these by aliases. */
async function regroupWith(
  advisories: readonly RecordAliases[],
  tx: Transaction,
): Promise<{ before: StoredIssue[]; regrouping: Regrouping }> {
  const joined = await store.selectJoined(
    advisories.flatMap(({ id, aliases }) => [id, ...aliases]),
    tx,
  );
  const before = await store.selectIssues(joined, tx);
  const replaced = new Set(advisories.map(({ id }) => id));
  const others = (await store.selectRecordAliases(joined, tx)).filter(({ id }) => !replaced.has(id));
  return { before, regrouping: regroup({ before, after: groupAliases([...others, ...advisories]) }) };
}

/** Names of changed issues: their records now count for another issue. */
function namesOfChangedIssues({ continued, added, ended }: Regrouping, before: readonly StoredIssue[]): string[] {
  const renamed = continued.filter((one) => one.renamed);
  const issues = new Set([...renamed, ...ended].map(({ issue }) => issue));
  const groups = [...before.filter(({ id }) => issues.has(id)), ...renamed, ...added].map(({ group }) => group);
  return groups.flatMap(({ ids, shared }) => [...ids, ...shared]);
}

function rowOf({ id, modified, aliases, digest, facts: { withdrawn }, recordElement }: PreparedRecord): store.AdvisoryRow {
  return { id, modified, withdrawn, aliases, digest, recordElement };
}

function affectedBy({ id, names, positions }: PreparedRecord, packages: ReadonlyMap<string, bigint>): store.AffectedRow[] {
  return names.map((name, index) => ({ advisory: id, position: positions[index] ?? 0, package: idOf(name, packages) }));
}

function idOf(name: PackageName, ids: ReadonlyMap<string, bigint>): bigint {
  const id = ids.get(packageIdentity(name));
  if (id === undefined) throw new Error(`The package "${packageIdentity(name)}" has no id`);
  return id;
}

interface Change {
  regrouping: Regrouping;
  /** The records of this import. */
  facts: readonly IssueFacts[];
  at: Date;
}

async function storeIssues({ regrouping, facts, at }: Change, tx: Transaction): Promise<void> {
  const { continued, added, ended } = regrouping;
  const fresh = new Map(facts.map((one) => [one.id, one]));
  const changed = continued.filter(({ group, renamed }) => renamed || namesOf(group).some((name) => fresh.has(name)));
  const byId = await withStored(
    fresh,
    [...changed, ...added].map(({ group }) => group),
    tx,
  );
  const issueOf = (group: AliasGroup) => issueFrom(group, recordsOf(group, byId));
  const endedIds = ended.map(({ issue }) => issue);
  // Ends issues first, since others may take their names.
  await store.endIssues(endedIds, tx);
  await store.updateIssues(
    changed.map(({ issue, group }) => ({ id: issue, issue: issueOf(group) })),
    tx,
  );
  const ids = await store.insertIssues(
    added.map(({ group }) => issueOf(group)),
    tx,
  );
  for (const { issue, group } of continued) ids.set(group.id, issue);
  const renamed = [...continued.filter((one) => one.renamed), ...added].map(({ group }) => group);
  await store.replaceNames(
    renamed.map((group) => ({ id: issueIdOf(group, ids), group })),
    tx,
  );
  await follow({ regrouping, ids, at }, tx);
  // This includes moved findings: a merged issue has new names.
  await store.copyRanks(
    changed.map(({ issue }) => issue),
    tx,
  );
  await store.deleteUnreferenced(endedIds, tx);
}

function namesOf({ ids, shared }: AliasGroup): string[] {
  return [...ids, ...shared];
}

/** Adds stored records about these groups. */
async function withStored(
  fresh: ReadonlyMap<string, IssueFacts>,
  groups: readonly AliasGroup[],
  tx: Transaction,
): Promise<Map<string, IssueFacts>> {
  const missing = [...new Set(groups.flatMap(namesOf))].filter((name) => !fresh.has(name));
  const stored = missing.length === 0 ? [] : await store.selectIssueFacts(missing, tx);
  return new Map([...fresh, ...stored.map((one) => [one.id, one] as const)]);
}

function issueIdOf(group: AliasGroup, ids: ReadonlyMap<string, bigint>): bigint {
  const id = ids.get(group.id);
  if (id === undefined) throw new Error(`The issue "${group.id}" has no id`);
  return id;
}

/** @param ids of the current issues, by the ids of their groups */
async function follow(
  { regrouping: { added, ended }, ids, at }: { regrouping: Regrouping; ids: ReadonlyMap<string, bigint>; at: Date },
  tx: Transaction,
): Promise<void> {
  const splits = added.flatMap(({ group, from }) =>
    from.map((issue): store.IssueMove => ({ from: issue, to: issueIdOf(group, ids) })),
  );
  const joins = ended.map(({ issue, into }) =>
    into.map((group): store.IssueMove => ({ from: issue, to: issueIdOf(group, ids) })),
  );
  await store.copyTriages([...splits, ...joins.flat()], tx);
  // Findings move only to the first issue; the next scan finds the others.
  await store.moveFindings({ moves: joins.flatMap(([first]) => first ?? []), at }, tx);
}

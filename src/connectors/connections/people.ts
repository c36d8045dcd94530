/**
 * The people of a connection: who has an account at the vendor, as it was last read.
 *
 * A person asks for the first reading. From then on people are read each day, until someone deletes the reading or the connection, or the
 * operator takes the early access away. A reading replaces the one before in one transaction; nothing of earlier ones is kept. One that
 * fails keeps the last good one, and says since when and why. A lease lets one process read a connection, and one connection of a
 * workspace be read; another process takes over from one that dies. Each process that serves HTTP looks for what is due, since only those
 * have the keys that open credentials.
 *
 * Only those who manage or audit a workspace see its people: whether somebody has a second factor is confidential.
 */
import { type Actor, authorize, managers, overseers } from "../../accounts/audit/actor.ts";
import { change, type AuditEvent, type Sources, changedFields } from "../../accounts/audit/change.ts";
import { DomainError } from "../../accounts/errors.ts";
import { peopleReadingsPerHourMax } from "../../accounts/limits.ts";
import { countAct } from "../../accounts/quotas/hourly-acts.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import type { Database, Queries, Transaction } from "../../backing/backing.ts";
import type { SafeFetch } from "../../http/safe-fetch.ts";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import { errorCode } from "../../kernel/error-code.ts";
import { newInternalId, type WorkspaceId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import * as limits from "../limits.ts";
import { findConnection, openConnection, whyUnreachable } from "./connections.ts";
import { CredentialError, valueOf, VendorError } from "./probe.ts";
import type { Outcome, PeopleForgotten, PeopleReading, PeopleView, PersonView } from "./schema.ts";
import * as store from "./store.ts";
import { VendorCalls } from "./vendor-calls.ts";
import { type FoundPeople, peopleFieldsOf, type PeopleSource, peopleSourceFor } from "./vendor-people.ts";

export interface PeopleWorkspace {
  id: WorkspaceId;
  earlyAccess: string[];
}

/** Whether Weir reads people with a connection's credentials, in a workspace that has the feature. */
export function hasPeople(
  connection: { connector: string; fields: readonly string[] },
  { earlyAccess }: PeopleWorkspace,
): boolean {
  return earlyAccess.includes("people") && peopleSourceFor(connection) !== undefined;
}

interface Asked {
  actor: Actor;
  workspace: PeopleWorkspace;
  row: store.ConnectionRow;
}

/**
 * @param page `after` is the login of the last row that is known; null: from the first
 * @throws DomainError not_found in a workspace without the feature; forbidden for members; conflict for a vendor whose people are not read
 */
export async function showPeople(
  { actor, workspace, row }: Asked,
  { after, limit }: { after: string | null; limit: number },
  sql: Queries,
): Promise<PeopleView> {
  authorize(actor, { roles: overseers, action: "list the people of a connection" });
  const source = requireSource(workspace, row);
  const reading = await store.selectReading(row.id, sql);
  if (reading === undefined) return { reading: null, data: [], next: null };
  const found = await store.selectPeople({ id: row.id, after, limit: limit + 1 }, sql);
  const data = found.slice(0, limit).map(viewPerson);
  return {
    reading: viewReading(reading, { row, source }),
    data,
    next: found.length > limit ? (data.at(-1)?.login ?? null) : null,
  };
}

/**
 * Reads the people at the vendor, and from then on each day.
 * @throws DomainError like `showPeople`, forbidden except for admins, super admins and the operator; conflict while a reading of the
 *   workspace runs, or if the credentials were replaced meanwhile; unavailable if SECRETS_KEY no longer has the key that sealed them
 * @throws LimitReachedError for too many readings per hour
 */
export async function readPeople({ actor, workspace, row }: Asked, parts: ReadingParts): Promise<PeopleReading> {
  authorize(actor, { roles: managers, action: "read the people of a connection" });
  const source = requireSource(workspace, row);
  const { sql, clock } = parts;
  await openConnection(row, parts);
  await countAct({ workspace: workspace.id, act: "readings of people", max: peopleReadingsPerHourMax }, parts);
  const taken = leaseAt(clock.now());
  if (!(await store.takeReading({ ...taken, id: row.id, workspace: workspace.id }, sql))) {
    throw new DomainError(
      "conflict",
      "Cannot read people now: another reading of the workspace is running, which takes minutes at most",
    );
  }
  const isStored = await readAndStore({ actor, row, source, lease: taken.lease }, parts);
  const reading = await store.selectReading(row.id, sql);
  if (isStored && reading !== undefined) return viewReading(reading, { row, source });
  throw new DomainError("conflict", "The connection was changed or deleted while its people were read: read them again");
}

/**
 * Deletes the people that were read, and ends the daily reading.
 * @throws DomainError like `readPeople`
 */
export async function forgetPeople({ actor, workspace, row }: Asked, sources: Sources): Promise<PeopleForgotten> {
  authorize(actor, { roles: managers, action: "delete the people of a connection" });
  return change(actor, sources, async (tx) => {
    const forgotten = await store.deleteReading(row.id, tx);
    const event: AuditEvent = { event: "connection.people.forgotten", workspace: workspace.id, target: row.id, changes: {} };
    return { result: { id: row.id, forgotten }, event: forgotten ? event : null };
  });
}

/** A workspace's readings for its export, with all people of each. */
export async function* peopleOfWorkspace(
  workspace: PeopleWorkspace,
  sql: Queries,
): AsyncGenerator<{ id: string; readAt: string; people: PersonView[] }, void> {
  const rows = await store.selectConnections({ workspace: workspace.id, limit: limits.connectionsPerWorkspaceMax }, sql);
  for (const row of rows.filter((one) => hasPeople(one, workspace))) {
    const reading = await store.selectReading(row.id, sql);
    if (!reading?.readAt) continue;
    const people = await store.selectPeople({ id: row.id, after: null, limit: limits.peopleMax }, sql);
    yield { id: row.id, readAt: isoTime(reading.readAt.getTime()), people: people.map(viewPerson) };
  }
}

export interface ReadingParts extends CallParts {
  sql: Database;
  keyring: Keyring;
}

interface CallParts {
  callVendors: SafeFetch;
  clock: Clock;
  /** Ends a reading, which another process then begins anew. */
  signal?: AbortSignal;
}

/** Reads what is due, one connection at a time, until disposed. */
export function startReadings(parts: ReadingParts & { log: Logger }): AsyncDisposable {
  const { clock, log } = parts;
  return repeatUntilStopped({
    clock,
    async round(signal) {
      while (!signal.aborted && (await readDue({ ...parts, signal })));
    },
    everyMs: limits.peopleLookMs,
    pauseFirst: true,
    onError: (error) => log.warn({ event: "people.put_off", code: errorCode(error) }, "People cannot be read at present"),
  });
}

/** @returns whether a reading was due */
export async function readDue(parts: ReadingParts & { log: Logger }): Promise<boolean> {
  const { sql, clock, log } = parts;
  const taken = leaseAt(clock.now());
  const id = await store.takeDueReading(taken, sql);
  if (id === undefined) return false;
  const row = await findConnection(id, sql);
  const source = peopleSourceFor(row);
  // With other credentials Weir may have nothing to read, until they are replaced again.
  if (source === undefined) await store.releaseReading({ id, lease: taken.lease, dueAt: nextDay(clock) }, sql);
  else {
    const isStored = await readAndStore({ actor: null, row, source, lease: taken.lease }, parts);
    log.info({ event: "people.read", connection: id, workspace: row.workspace, connector: row.connector, stored: isStored });
  }
  return true;
}

interface Reading {
  /** Who asked; null: it was due. */
  actor: Actor | null;
  row: store.ConnectionRow;
  source: PeopleSource;
  lease: string;
}

/** @returns false: the connection was changed or deleted meanwhile, and nothing was stored */
async function readAndStore({ actor, row, source, lease }: Reading, parts: ReadingParts): Promise<boolean> {
  const { sql, clock, signal } = parts;
  const { id } = row;
  try {
    const found = await tryReading(row, { source, parts });
    const ended = { id, lease, at: new Date(clock.now()) };
    const write = async (tx: Transaction): Promise<boolean> =>
      "people" in found
        ? store.replacePeople({ ...ended, ...found, updatedAt: row.updatedAt, dueAt: nextDay(clock) }, tx)
        : store.recordFailedReading({ ...ended, ...found, dueAt: dueAfter(found, clock) }, tx);
    const isStored = actor === null ? await sql.begin(write) : await writeAsked({ actor, row, found, write }, parts);
    if (!isStored) await store.releaseReading({ id, lease, dueAt: new Date(clock.now()) }, sql);
    return isStored;
  } catch (error) {
    const dueAt = new Date(clock.now() + (signal?.aborted ? 0 : limits.peopleRetryMs));
    await store.releaseReading({ id, lease, dueAt }, sql);
    if (signal?.aborted) return false;
    throw error;
  }
}

interface AskedReading {
  actor: Actor;
  row: store.ConnectionRow;
  found: FoundPeople | Failure;
  write(tx: Transaction): Promise<boolean>;
}

async function writeAsked({ actor, row, found, write }: AskedReading, { sql, clock }: ReadingParts): Promise<boolean> {
  return change(actor, { sql, clock }, async (tx) => {
    const result = await write(tx);
    const changes = changedFields({ before: {}, after: { outcome: "people" in found ? "works" : found.outcome } });
    return { result, event: { event: "connection.people.read", workspace: row.workspace, target: row.id, changes } };
  });
}

interface Failure {
  outcome: Outcome;
  status: number | null;
  message: string;
}

async function tryReading(
  row: store.ConnectionRow,
  { source, parts }: { source: PeopleSource; parts: ReadingParts },
): Promise<FoundPeople | Failure> {
  try {
    const credentials = await openConnection(row, parts);
    return await source.read(valueOf(credentials), new VendorCalls(parts));
  } catch (error) {
    parts.signal?.throwIfAborted();
    if (error instanceof VendorError) return { outcome: error.outcome, status: error.status, message: error.message };
    if (error instanceof CredentialError || error instanceof DomainError)
      return { outcome: "unusable", status: null, message: error.message };
    return { outcome: "unreachable", status: null, message: whyUnreachable(error) };
  }
}

function leaseAt(nowMs: number): Omit<store.ReadingLease, "id"> {
  return {
    lease: newInternalId(nowMs),
    now: new Date(nowMs),
    until: new Date(nowMs + limits.peopleLeaseMs),
    dueAt: new Date(nowMs + limits.peopleRetryMs),
  };
}

function nextDay(clock: Clock): Date {
  return new Date(clock.now() + limits.peopleEveryMs);
}

/** What passes by itself is tried again within the day. */
function dueAfter({ outcome }: Failure, clock: Clock): Date {
  const passes = outcome === "rate_limited" || outcome === "unreachable" || outcome === "unexpected";
  return passes ? new Date(clock.now() + limits.peopleRetryMs) : nextDay(clock);
}

function requireSource({ earlyAccess }: PeopleWorkspace, row: store.ConnectionRow): PeopleSource {
  if (!earlyAccess.includes("people")) {
    const message = "People of connections are not switched on for the workspace: the operator adds people to early_access";
    throw new DomainError("not_found", message);
  }
  const source = peopleSourceFor(row);
  if (source !== undefined) return source;
  const needed = peopleFieldsOf(row.connector);
  const message =
    needed === undefined
      ? `Weir reads no people of "${row.connector}"`
      : `Cannot read people with these credentials: the fields ${needed.map((fields) => fields.join(", ")).join(", or ")} are needed`;
  throw new DomainError("conflict", message);
}

function viewPerson({ login, state, secondFactor }: Awaited<ReturnType<typeof store.selectPeople>>[number]): PersonView {
  return { login, state, second_factor: secondFactor };
}

function viewReading(
  reading: store.ReadingRow,
  { row, source }: { row: Pick<store.ConnectionRow, "updatedAt">; source: PeopleSource },
): PeopleReading {
  const { id, readAt, people, isComplete, unknownFactor, credentialsAt, failingSince, failedAt, outcome, status, message } =
    reading;
  const hasFailed = failingSince !== null && failedAt !== null && outcome !== null;
  return {
    connection_id: id,
    list: source.list,
    read_at: readAt && isoTime(readAt.getTime()),
    people: readAt === null ? null : people,
    complete: isComplete,
    second_factor_unknown: unknownFactor,
    current: credentialsAt?.getTime() === row.updatedAt.getTime(),
    failure: hasFailed
      ? { outcome, status, message: message ?? "", since: isoTime(failingSince.getTime()), at: isoTime(failedAt.getTime()) }
      : null,
    next_at: isoTime(reading.dueAt.getTime()),
  };
}

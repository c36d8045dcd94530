/**
 * The SQL of connections, their sealed fields, and their people. The result of a test or a reading is not stored if the credentials were
 * replaced meanwhile.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { arrayText, byteaText } from "../../backing/sql-text.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Outcome, PersonState } from "./schema.ts";
import type { SealedField } from "./credentials.ts";

interface NewConnection {
  id: string;
  workspace: WorkspaceId;
  connector: string;
  /** null: that of the connector. */
  name: string | null;
  method: string;
  credentialSet: number;
  /** Milliseconds. */
  at: number;
}

export interface ConnectionRow extends Omit<NewConnection, "at"> {
  fields: string[];
  createdAt: Date;
  updatedAt: Date;
  /** When the current credentials were tested; the next three fields are set with it. */
  testedAt: Date | null;
  testOutcome: Outcome | null;
  testStatus: number | null;
  testMessage: string | null;
}

/** Counts the workspace's connections, and locks the count until the transaction ends. */
export async function countConnections(workspace: WorkspaceId, tx: Transaction): Promise<number> {
  await tx`SELECT FROM workspaces WHERE id = ${workspace} FOR NO KEY UPDATE`;
  const [row] = await tx<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM connections WHERE workspace_id = ${workspace}`;
  return row?.count ?? 0;
}

export async function insertConnection(
  { id, workspace, connector, name, method, credentialSet, at }: NewConnection,
  tx: Transaction,
): Promise<void> {
  await tx`
    INSERT INTO connections (id, workspace_id, connector_id, name, method, credential_set, created_at, updated_at)
    VALUES (${id}, ${workspace}, ${connector}, ${name}, ${method}, ${credentialSet}, ${isoTime(at)}, ${isoTime(at)})`;
}

/** Replaces all fields. */
export async function writeFields({ id, fields }: { id: string; fields: SealedField[] }, tx: Transaction): Promise<void> {
  await tx`DELETE FROM connection_fields WHERE connection_id = ${id}`;
  await tx`
    INSERT INTO connection_fields (connection_id, field, sealed)
    SELECT ${id}, new.field, new.sealed
    FROM unnest(${fields.map(({ field }) => field)}::text[],
      ${fields.map(({ sealed }) => byteaText(sealed))}::text[]::bytea[]) AS new (field, sealed)`;
}

/** Clears the test of the former credentials; people that are read each day are read again at once. */
export async function updateCredentialSet(
  { id, credentialSet, at }: Pick<NewConnection, "id" | "credentialSet" | "at">,
  tx: Transaction,
): Promise<void> {
  await tx`
    UPDATE connections SET credential_set = ${credentialSet}, updated_at = ${isoTime(at)},
      tested_at = NULL, test_outcome = NULL, test_status = NULL, test_message = NULL
    WHERE id = ${id}`;
  await tx`UPDATE people_readings SET due_at = ${isoTime(at)} WHERE connection_id = ${id}`;
}

/** Stores nothing if the credentials were replaced during the test. */
export async function updateTest(
  { id, updatedAt }: Pick<ConnectionRow, "id" | "updatedAt">,
  { outcome, status, message, at }: { outcome: Outcome; status: number | null; message: string; at: number },
  tx: Transaction,
): Promise<void> {
  await tx`
    UPDATE connections SET tested_at = ${isoTime(at)}, test_outcome = ${outcome}, test_status = ${status}, test_message = ${message}
    WHERE id = ${id} AND updated_at = ${updatedAt}`;
}

export async function updateName({ id, name }: Pick<NewConnection, "id" | "name">, tx: Transaction): Promise<void> {
  await tx`UPDATE connections SET name = ${name} WHERE id = ${id}`;
}

export async function deleteRow(id: string, tx: Transaction): Promise<void> {
  await tx`DELETE FROM connections WHERE id = ${id}`;
}

const columns = (sql: Queries) => sql`
  id, workspace_id AS workspace, connector_id AS connector, name, method, credential_set AS "credentialSet",
  created_at AS "createdAt", updated_at AS "updatedAt",
  tested_at AS "testedAt", test_outcome AS "testOutcome", test_status AS "testStatus", test_message AS "testMessage",
  ARRAY(SELECT field FROM connection_fields WHERE connection_id = connections.id ORDER BY field) AS fields`;

export async function selectConnection(id: string, sql: Queries): Promise<ConnectionRow | undefined> {
  const [row] = await sql<ConnectionRow[]>`SELECT ${columns(sql)} FROM connections WHERE id = ${id}`;
  return row;
}

/** Reads a connection and locks it until the transaction ends. */
export async function lockConnection(id: string, tx: Transaction): Promise<ConnectionRow | undefined> {
  const [row] = await tx<ConnectionRow[]>`SELECT ${columns(tx)} FROM connections WHERE id = ${id} FOR UPDATE`;
  return row;
}

/** In order of creation. @param workspace null: all */
export async function selectConnections(
  { workspace, limit }: { workspace: WorkspaceId | null; limit: number },
  sql: Queries,
): Promise<ConnectionRow[]> {
  return sql<ConnectionRow[]>`
    SELECT ${columns(sql)} FROM connections
    WHERE ${workspace === null ? sql`true` : sql`workspace_id = ${workspace}`} ORDER BY id LIMIT ${limit}`;
}

/** Id of the connection with the newest credentials, among those that have a value for the field. */
export async function selectNewestWithField(
  { workspace, connector, field }: { workspace: WorkspaceId; connector: string; field: string },
  sql: Queries,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    SELECT id FROM connections
    WHERE workspace_id = ${workspace} AND connector_id = ${connector}
      AND EXISTS (SELECT FROM connection_fields WHERE connection_id = connections.id AND field = ${field})
    ORDER BY updated_at DESC, id DESC LIMIT 1`;
  return row?.id;
}

export async function selectFields(id: string, sql: Queries): Promise<SealedField[]> {
  return sql<SealedField[]>`SELECT field, sealed FROM connection_fields WHERE connection_id = ${id} ORDER BY field`;
}

// People

export interface ReadingRow {
  /** Id of the connection. */
  id: string;
  readAt: Date | null;
  people: number;
  isComplete: boolean | null;
  unknownFactor: string | null;
  credentialsAt: Date | null;
  failingSince: Date | null;
  failedAt: Date | null;
  outcome: Outcome | null;
  status: number | null;
  message: string | null;
  dueAt: Date;
}

export async function selectReading(id: string, sql: Queries): Promise<ReadingRow | undefined> {
  const [row] = await sql<ReadingRow[]>`
    SELECT connection_id AS id, read_at AS "readAt", is_complete AS "isComplete", unknown_factor AS "unknownFactor",
      credentials_at AS "credentialsAt", failing_since AS "failingSince", failed_at AS "failedAt", outcome, status, message,
      due_at AS "dueAt",
      (SELECT count(*)::integer FROM connection_people WHERE connection_people.connection_id = people_readings.connection_id) AS people
    FROM people_readings WHERE connection_id = ${id}`;
  return row;
}

/** The right to read a connection's people until a time. */
export interface ReadingLease {
  /** Id of the connection. */
  id: string;
  lease: string;
  now: Date;
  until: Date;
  /** When it is read next if this process dies. */
  dueAt: Date;
}

/** @returns false: another process reads people of this workspace */
export async function takeReading(
  { id, lease, now, until, dueAt, workspace }: ReadingLease & { workspace: WorkspaceId },
  sql: Queries,
): Promise<boolean> {
  const rows = await sql`
    INSERT INTO people_readings (connection_id, due_at, lease, lease_until)
    SELECT ${id}, ${dueAt}::timestamptz, ${lease}, ${until}::timestamptz
    WHERE NOT EXISTS (
      SELECT FROM people_readings AS other JOIN connections ON connections.id = other.connection_id
      WHERE connections.workspace_id = ${workspace} AND other.lease_until > ${now})
    ON CONFLICT (connection_id) DO UPDATE SET due_at = excluded.due_at, lease = excluded.lease, lease_until = excluded.lease_until
    WHERE people_readings.lease_until IS NULL OR people_readings.lease_until <= ${now}
    RETURNING connection_id`;
  return rows.length > 0;
}

/** Takes the reading that has been due for longest, in workspaces with the feature. @returns its connection; undefined: none is due */
export async function takeDueReading(
  { lease, now, until, dueAt }: Omit<ReadingLease, "id">,
  sql: Queries,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    UPDATE people_readings SET due_at = ${dueAt}, lease = ${lease}, lease_until = ${until}
    WHERE connection_id = (
      SELECT due.connection_id FROM people_readings AS due
      JOIN connections ON connections.id = due.connection_id
      JOIN workspaces ON workspaces.id = connections.workspace_id
      WHERE due.due_at <= ${now} AND (due.lease_until IS NULL OR due.lease_until <= ${now})
        AND 'people' = ANY (workspaces.early_access)
      ORDER BY due.due_at LIMIT 1 FOR UPDATE OF due SKIP LOCKED)
    RETURNING connection_id AS id`;
  return row?.id;
}

interface EndedReading {
  id: string;
  lease: string;
  at: Date;
  dueAt: Date;
}

interface StoredPerson {
  login: string;
  state: PersonState;
  secondFactor: boolean | null;
}

/**
 * Replaces the last reading.
 * @param updatedAt when the credentials were set that it was read with
 * @returns false: nothing was stored, because another process has the lease, or the credentials were replaced meanwhile
 */
export async function replacePeople(
  reading: EndedReading & { updatedAt: Date; people: readonly StoredPerson[]; isComplete: boolean; unknownFactor: string | null },
  tx: Transaction,
): Promise<boolean> {
  const { id, lease, at, dueAt, updatedAt, people, isComplete, unknownFactor } = reading;
  const kept = await tx`
    UPDATE people_readings SET read_at = ${at}, is_complete = ${isComplete}, unknown_factor = ${unknownFactor},
      credentials_at = ${updatedAt}, failing_since = NULL, failed_at = NULL, outcome = NULL, status = NULL, message = NULL,
      due_at = ${dueAt}, lease = NULL, lease_until = NULL
    WHERE connection_id = ${id} AND lease = ${lease}
      AND EXISTS (SELECT FROM connections WHERE id = ${id} AND updated_at = ${updatedAt} FOR UPDATE)
    RETURNING connection_id`;
  if (kept.length === 0) return false;
  await tx`DELETE FROM connection_people WHERE connection_id = ${id}`;
  await tx`
    INSERT INTO connection_people (connection_id, key, login, state, second_factor)
    SELECT ${id}, person.key, person.login, person.state, person.factor
    FROM unnest(${people.map(({ login }) => login.toLowerCase())}::text[], ${people.map(({ login }) => login)}::text[],
      ${people.map(({ state }) => state)}::text[], ${arrayText(people, ({ secondFactor }) => secondFactor)}::boolean[])
      AS person (key, login, state, factor)`;
  return true;
}

/** Keeps the last good reading. @returns false: another process has the lease */
export async function recordFailedReading(
  failed: EndedReading & { outcome: Outcome; status: number | null; message: string },
  tx: Transaction,
): Promise<boolean> {
  const { id, lease, at, dueAt, outcome, status, message } = failed;
  const kept = await tx`
    UPDATE people_readings SET failing_since = coalesce(failing_since, ${at}), failed_at = ${at}, outcome = ${outcome},
      status = ${status}, message = ${message}, due_at = ${dueAt}, lease = NULL, lease_until = NULL
    WHERE connection_id = ${id} AND lease = ${lease}
    RETURNING connection_id`;
  return kept.length > 0;
}

/** Ends a reading without a result. */
export async function releaseReading({ id, lease, dueAt }: Omit<EndedReading, "at">, sql: Queries): Promise<void> {
  await sql`
    UPDATE people_readings SET due_at = ${dueAt}, lease = NULL, lease_until = NULL
    WHERE connection_id = ${id} AND lease = ${lease}`;
}

/** By login. @param after the login of the last row that is known; null: from the first */
export async function selectPeople(
  { id, after, limit }: { id: string; after: string | null; limit: number },
  sql: Queries,
): Promise<StoredPerson[]> {
  return sql<StoredPerson[]>`
    SELECT login, state, second_factor AS "secondFactor" FROM connection_people
    WHERE connection_id = ${id} AND key > ${(after ?? "").toLowerCase()} ORDER BY key LIMIT ${limit}`;
}

/** @returns whether there was a reading */
export async function deleteReading(id: string, tx: Transaction): Promise<boolean> {
  return (await tx`DELETE FROM people_readings WHERE connection_id = ${id} RETURNING connection_id`).length > 0;
}

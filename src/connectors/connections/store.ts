/** The SQL of connections and their sealed fields. The result of a test is not stored if the credentials were replaced meanwhile. */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { byteaText } from "../../backing/sql-text.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Outcome } from "./schema.ts";
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

export async function updateCredentialSet(
  { id, credentialSet, at }: Pick<NewConnection, "id" | "credentialSet" | "at">,
  tx: Transaction,
): Promise<void> {
  await tx`
    UPDATE connections SET credential_set = ${credentialSet}, updated_at = ${isoTime(at)},
      tested_at = NULL, test_outcome = NULL, test_status = NULL, test_message = NULL
    WHERE id = ${id}`;
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

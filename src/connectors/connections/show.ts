import type { Queries } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { connectionsPerWorkspaceMax } from "../limits.ts";
import { DomainError } from "../../accounts/errors.ts";
import { probeFor } from "./probes.ts";
import type { ConnectionView } from "./schema.ts";
import { selectConnection, selectConnections, type ConnectionRow } from "./store.ts";

/** Finds a connection in any workspace. @throws DomainError not_found */
export async function findConnection(id: string, sql: Queries): Promise<ConnectionRow> {
  const row = await selectConnection(id, sql);
  return requireConnection({ id, workspace: row?.workspace ?? "", row });
}

/** @throws DomainError not_found also for one of another workspace, so that existing ones stay hidden */
export function requireConnection({
  id,
  workspace,
  row,
}: {
  id: string;
  workspace: WorkspaceId;
  row: ConnectionRow | undefined;
}): ConnectionRow {
  if (row?.workspace === workspace) return row;
  throw noConnection(id);
}

export function noConnection(id: string): DomainError {
  return new DomainError("not_found", `There is no connection with the id "${id}"`, { field: "id" });
}

/** In order of creation, without credentials. @param workspace null: the first ones of all workspaces */
export async function listConnections(workspace: WorkspaceId | null, sql: Queries): Promise<ConnectionView[]> {
  return (await selectConnections({ workspace, limit: connectionsPerWorkspaceMax }, sql)).map(viewConnection);
}

export function viewConnection(row: ConnectionRow): ConnectionView {
  return {
    id: row.id,
    workspace_id: row.workspace,
    connector: row.connector,
    method: row.method,
    credential_set: row.credentialSet,
    fields: row.fields,
    created_at: isoTime(row.createdAt.getTime()),
    updated_at: isoTime(row.updatedAt.getTime()),
    testable: probeFor(row) !== undefined,
    last_test: viewTest(row),
  };
}

function viewTest({ testedAt, testOutcome: outcome, testStatus: status, testMessage: message }: ConnectionRow) {
  if (testedAt === null || outcome === null) return null;
  return { outcome, status, message: message ?? "", tested_at: isoTime(testedAt.getTime()) };
}

import type { Actor } from "../../accounts/audit/actor.ts";
import { DomainError } from "../../accounts/errors.ts";
import { managers } from "../../accounts/workspaces/authorize.ts";
import type { Queries } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { ownKeysListedMax } from "../limits.ts";
import type { OwnKeyView } from "./schema.ts";
import { selectOwnKey, selectOwnKeys, type OwnKeyRow } from "./store.ts";

/** Finds an own key in any workspace. @throws DomainError not_found */
export async function findOwnKey(id: string, sql: Queries): Promise<OwnKeyRow> {
  const row = await selectOwnKey(id, sql);
  return requireOwnKey({ id, workspace: row?.workspace ?? "", row });
}

/** @throws DomainError not_found also for one of another workspace, so that existing ones stay hidden */
export function requireOwnKey({
  id,
  workspace,
  row,
}: {
  id: string;
  workspace: WorkspaceId;
  row: OwnKeyRow | undefined;
}): OwnKeyRow {
  if (row?.workspace === workspace) return row;
  throw noOwnKey(id);
}

export function noOwnKey(id: string): DomainError {
  return new DomainError("not_found", `There is no own provider key with the id "${id}"`, { field: "id" });
}

/** In order of creation. @param workspace null: the first ones of all workspaces */
export async function listOwnKeys(
  { actor, workspace }: { actor: Actor; workspace: WorkspaceId | null },
  sql: Queries,
): Promise<OwnKeyView[]> {
  return (await selectOwnKeys({ workspace, limit: ownKeysListedMax }, sql)).map((row) => viewOwnKey(row, actor));
}

/** Members and auditors see that there is a key, and no part of it. */
export function viewOwnKey(row: OwnKeyRow, actor: Actor): OwnKeyView {
  const manages = actor.kind !== "member" || managers.includes(actor.role);
  return {
    id: row.id,
    workspace_id: row.workspace,
    provider: row.provider,
    state: row.state,
    zero_data_retention: row.zeroDataRetention,
    name: manages ? row.name : null,
    masked: manages ? masked(row) : null,
    created_at: isoTime(row.createdAt.getTime()),
    tested_at: manages ? isoTime(row.testedAt.getTime()) : null,
    last_used_at: manages && row.lastUsedAt ? isoTime(row.lastUsedAt.getTime()) : null,
  };
}

export function masked({ lastFour }: Pick<OwnKeyRow, "lastFour">): string {
  return `…${lastFour ?? ""}`;
}

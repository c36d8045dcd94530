import type { Actor } from "../../audit/actor.ts";
import { DomainError } from "../../errors.ts";
import { authorize, managers, overseers } from "../../workspaces/authorize.ts";
import type { Queries } from "../../../backing/backing.ts";
import { isoTime } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import type { AlertWebhookView } from "./schema.ts";
import { selectWebhook, selectWebhooks, type AlertWebhook } from "./webhook-store.ts";

/** In order of creation. @throws DomainError forbidden for members */
export async function listWebhooks(
  { actor, workspace, nowMs }: { actor: Actor; workspace: WorkspaceId; nowMs: number },
  sql: Queries,
): Promise<AlertWebhookView[]> {
  authorize(actor, { roles: overseers, action: "see the webhooks of alerts" });
  return (await selectWebhooks(workspace, sql)).map((row) => viewWebhook(row, { actor, nowMs }));
}

/** Finds a webhook in any workspace. @throws DomainError not_found */
export async function findWebhook(id: string, sql: Queries): Promise<AlertWebhook> {
  const row = await selectWebhook(id, sql);
  if (row) return row;
  throw noWebhook(id);
}

export function noWebhook(id: string): DomainError {
  return new DomainError("not_found", `There is no webhook of alerts with the id "${id}"`, { field: "id" });
}

/** @throws DomainError not_found also for one of another workspace, so that existing ones stay hidden */
export function requireWebhook(
  row: AlertWebhook | undefined,
  { id, workspace }: { id: string; workspace: WorkspaceId },
): AlertWebhook {
  if (row?.workspace === workspace) return row;
  throw noWebhook(id);
}

/** Whoever knows the whole address of some receivers can write to them, so that only those who may set it see it. */
export function viewWebhook(row: AlertWebhook, { actor, nowMs }: { actor: Actor; nowMs: number }): AlertWebhookView {
  const manages = actor.kind !== "member" || managers.includes(actor.role);
  const overlaps = row.formerUntil !== null && row.formerUntil.getTime() > nowMs;
  return {
    id: row.id,
    workspace_id: row.workspace,
    url: manages ? row.url : `${new URL(row.url).origin}/…`,
    former_secret_until: overlaps && row.formerUntil ? isoTime(row.formerUntil.getTime()) : null,
    created_at: isoTime(row.createdAt.getTime()),
  };
}

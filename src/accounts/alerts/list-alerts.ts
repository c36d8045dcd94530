import type { Actor } from "../audit/actor.ts";
import { DomainError } from "../errors.ts";
import { authorize, overseers } from "../workspaces/authorize.ts";
import type { Queries } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import { timeOfId, type WorkspaceId } from "../../kernel/ids.ts";
import { selectAlert, selectAlerts, type ListedAlert } from "./alert-store.ts";
import type { AlertDeliveryView, AlertList, AlertView } from "./schema.ts";

interface AlertPage {
  actor: Actor;
  workspace: WorkspaceId;
  /** Only those with a delivery to this webhook; null: all. */
  webhook: string | null;
  before: string | null;
  limit: number;
}

/** Newest first. @throws DomainError forbidden for members */
export async function listAlerts({ actor, limit, ...page }: AlertPage, sql: Queries): Promise<AlertList> {
  authorize(actor, { roles: overseers, action: "see alerts" });
  const rows = await selectAlerts({ ...page, limit: limit + 1 }, sql);
  const shown = rows.slice(0, limit);
  return { data: shown.map(viewAlert), next: rows.length > limit ? (shown.at(-1)?.id ?? null) : null };
}

/** Finds an alert in any workspace. @throws DomainError not_found */
export async function findAlert(id: string, sql: Queries): Promise<ListedAlert> {
  const alert = await selectAlert(id, sql);
  if (alert) return alert;
  throw noAlert(id);
}

export function noAlert(id: string): DomainError {
  return new DomainError("not_found", `There is no alert with the id "${id}"`, { field: "id" });
}

export function viewAlert({ id, kind, text, mails, deliveries }: ListedAlert): AlertView {
  return { id, kind, text, created_at: isoTime(timeOfId(id)), mails, deliveries: deliveries.map(viewDelivery) };
}

function viewDelivery({ webhook, triedAt, dueAt, ...rest }: ListedAlert["deliveries"][number]): AlertDeliveryView {
  return {
    webhook_id: webhook,
    state: rest.state,
    attempts: rest.attempts,
    status: rest.status,
    failure: rest.failure,
    tried_at: triedAt === null ? null : isoTime(triedAt),
    next_at: rest.state === "waiting" ? isoTime(dueAt) : null,
  };
}

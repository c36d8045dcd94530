/** Every change of a top-up: under its workspace's lock, on its present row, with its audit rows and the event that caused it. */
import type { Actor } from "../../accounts/audit/actor.ts";
import { change, type AuditEvent } from "../../accounts/audit/change.ts";
import type { Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { claimEvent } from "./events-store.ts";
import type { TopUpParts } from "./parts.ts";
import { lockTopUpSettings, type TopUpSettingsRow } from "./settings-store.ts";
import { selectTopUp, type TopUpRow } from "./store.ts";

export interface Locked {
  tx: Transaction;
  settings: TopUpSettingsRow;
  topUp: TopUpRow;
  now: Date;
}

interface Changed<T> {
  result: T;
  events?: readonly AuditEvent[];
}

/** What Weir does by itself, such as crediting a payment. */
export const byWeir: Actor = { kind: "service" };

export interface Cause {
  actor?: Actor;
  /** Stripe's id of the event; its change is made once. */
  event?: string | undefined;
}

/**
 * Runs `work` with the top-up's present row. Only the caller that is the first with the cause's event runs it.
 * @returns null: the event was applied before, or the top-up is unknown
 */
export async function changeTopUp<T>(
  { id, workspace, actor = byWeir, event }: { id: string; workspace: WorkspaceId } & Cause,
  parts: TopUpParts,
  work: (locked: Locked) => Promise<Changed<T>>,
): Promise<T | null> {
  return change<T | null>(actor, parts, async (tx) => {
    const settings = await lockTopUpSettings(workspace, tx);
    const now = new Date(parts.clock.now());
    if (event !== undefined && !(await claimEvent({ id: event, at: now }, tx))) return { result: null, event: null };
    const topUp = await selectTopUp(id, tx);
    if (!topUp) return { result: null, event: null };
    const { result, events = [] } = await work({ tx, settings, topUp, now });
    return { result, event: events };
  });
}

/** The counters learn of a change after its commit; if they do not answer, the reconciliation pushes it within a minute. */
export async function refreshed(workspace: WorkspaceId, parts: TopUpParts): Promise<void> {
  try {
    await parts.refresh(workspace);
  } catch (error) {
    parts.log.warn(
      { event: "top_up.not_pushed", workspace, reason: String(error) },
      "The counters did not learn of a payment; the reconciliation will tell them",
    );
  }
}

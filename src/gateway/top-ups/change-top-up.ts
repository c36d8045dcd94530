/**
 * The one way to change a top-up: under its workspace's lock, on its current row, with its audit rows, the ledger's entry and the event
 * that caused it in one transaction. So a step that a webhook, an answer and a list all report is applied once, whatever their order. The
 * ledger's references are made here, each booked once as each kind. A process has these verbs only if the operator has set a Stripe key.
 */
import type { Actor } from "../../accounts/audit/actor.ts";
import { change, type AuditEvent } from "../../accounts/audit/change.ts";
import type { Database, Transaction } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { MailText } from "./mails.ts";
import { claimEvent, lockTopUpSettings, type TopUpSettingsRow, selectTopUp, type TopUpRow } from "./store.ts";
import type { StripeApi } from "./stripe-api.ts";

/** The parts that the verbs of card top-up use. */
export interface TopUpParts {
  sql: Database;
  clock: Clock;
  log: Logger;
  stripe: StripeApi;
  /** The public address of the service, without a trailing slash. */
  publicUrl: string;
  /** The amount that open requests reserve; null: the counters cannot answer. */
  reserved(workspace: WorkspaceId): Promise<NanoUsd | null>;
  /** Makes the counters read the ledger again, after it changed. */
  refresh(workspace: WorkspaceId): Promise<void>;
  /** Puts a mail to the workspace's admins and super admins into the transaction. */
  mailManagers(mail: MailText & { workspace: WorkspaceId }, tx: Transaction): Promise<void>;
}

/** A refund takes credit away, so it must not be lent to gateways. */
export interface RefundParts extends TopUpParts {
  /** The credit that must stay, after gateways have returned what they were lent; null: the counters cannot answer. */
  held(workspace: WorkspaceId): Promise<NanoUsd | null>;
}

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

/** Changes that Weir makes by itself, such as crediting a payment. */
export const byWeir: Actor = { kind: "service" };

interface Cause {
  actor?: Actor;
  /** Stripe's id of the event; its change is made once. */
  event?: string | undefined;
}

/**
 * Runs `work` with the top-up's current row. For each event, only the first caller runs it.
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

// References: the ledger's names for movements of a payment

/** @param paymentIntent Stripe's id */
export function paymentReference(paymentIntent: string): string {
  return `stripe:${paymentIntent}`;
}

/** It is the same for taking the amount back and for returning it. @param id Weir's id of the refund */
export function refundReference(id: string): string {
  return `refund:${id}`;
}

/** It is the same for taking the amount back and for returning it. @param dispute Stripe's id */
export function disputeReference(dispute: string): string {
  return `stripe:${dispute}`;
}

/**
 * Automatic top-up: charges the saved card when the available credit is below the threshold. No request waits for it. One payment of a
 * workspace is under way at a time, however many processes check: each decides under the workspace's lock, by the ledger's balance at that
 * moment, and the monthly cap counts payments that were made or are under way.
 */
import { change, changedFields } from "../../accounts/audit/change.ts";
import type { Transaction } from "../../backing/backing.ts";
import { monthBounds, monthOf } from "../../kernel/clock.ts";
import { newTopUpId, type WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import { byWeir, changeTopUp, type TopUpParts } from "./change-top-up.ts";
import { confirmPayment } from "./payments.ts";
import * as store from "./store.ts";

/**
 * Tops a workspace up if it is due. However many run at once, one payment is made: each decides under the workspace's lock, by the ledger's
 * balance at that moment.
 * @throws StripeUnavailableError: the outcome is not known, and the sweeper repeats the call
 */
export async function topUpAutomatically(workspace: WorkspaceId, parts: TopUpParts): Promise<void> {
  const topUp = await beginAutomatic(workspace, parts);
  if (topUp !== null) await confirmPayment(topUp, parts);
}

/** Tries a declined payment again, with a new number and key, if it is still due; otherwise ends it. */
export async function retryPayment({ id, workspace }: store.TopUpRow, parts: TopUpParts): Promise<void> {
  const reserved = (await parts.reserved(workspace)) ?? 0n;
  const again = await changeTopUp({ id, workspace }, parts, async ({ tx, topUp, settings, now }) => {
    if (topUp.retryAt === null || topUp.retryAt > now) return { result: null };
    const amount = await amountDue({ settings, reserved, except: id, nowMs: now.getTime() }, tx);
    if (amount === null || amount < topUp.amount) {
      await store.updateTopUp({ ...topUp, retryAt: null, endedAt: now }, tx);
      return { result: null };
    }
    const { customer, paymentMethod, receiptEmail } = settings;
    const paidBy = { customer, paymentMethod, receiptEmail, paymentIntent: null };
    const next = { ...topUp, ...paidBy, state: "confirming" as const, try: topUp.try + 1, triedAt: now, retryAt: null };
    await store.updateTopUp(next, tx);
    return { result: next };
  });
  if (again !== null) await confirmPayment(again, parts);
}

/** @returns the new top-up, with its key, before any call; null: none is due */
async function beginAutomatic(workspace: WorkspaceId, parts: TopUpParts): Promise<store.TopUpRow | null> {
  const reserved = (await parts.reserved(workspace)) ?? 0n;
  return change(byWeir, parts, async (tx) => {
    const settings = await store.lockTopUpSettings(workspace, tx);
    const now = parts.clock.now();
    const amount = await amountDue({ settings, reserved, except: null, nowMs: now }, tx);
    if (amount === null || (await store.selectPending({ workspace, kind: "automatic" }, tx)))
      return { result: null, event: null };
    const { customer, paymentMethod, receiptEmail } = settings;
    const of = { id: newTopUpId(now), workspace, kind: "automatic" as const, state: "confirming" as const, amount };
    const paidBy = { customer, paymentMethod, receiptEmail, sessionExpiresAt: null, madeBy: "weir", at: new Date(now) };
    const result = await store.insertTopUp({ ...of, ...paidBy }, tx);
    const changes = changedFields({ before: {}, after: { usd: formatUsd(amount) } });
    return { result, event: { event: "top_up.created", workspace, target: result.id, changes } };
  });
}

interface Due {
  settings: store.TopUpSettingsRow;
  /** The amount that open requests hold. */
  reserved: NanoUsd;
  /** A top-up that does not count against the month. */
  except: string | null;
  nowMs: number;
}

/** @returns what to charge; null: it or the workspace is off, there is enough credit, or the month's cap would be exceeded */
async function amountDue({ settings, reserved, except, nowMs }: Due, tx: Transaction): Promise<NanoUsd | null> {
  const { workspace, enabled, paused, threshold, amount, monthlyCap, paymentMethod } = settings;
  if (!enabled || paused || threshold === null || amount === null || monthlyCap === null || paymentMethod === null) return null;
  const credit = await store.selectBalance(workspace, tx);
  if (!credit?.isServed || credit.balance - reserved >= threshold) return null;
  const charged = await store.sumAutomatic({ workspace, since: new Date(monthBounds(monthOf(nowMs)).startMs), except }, tx);
  return charged + amount > monthlyCap ? null : amount;
}

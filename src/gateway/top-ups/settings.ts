/**
 * The settings of automatic top-up, and the saved card that they charge. Switching it on needs a saved card, and confirms that card:
 * earlier declines no longer count. A card that is removed, here or at Stripe, is forgotten and switches automatic top-up off. Weir never
 * charges it again, whatever Stripe answers.
 */
import { type Actor, authorize, managers, overseers } from "../../accounts/audit/actor.ts";
import { change, changedFields } from "../../accounts/audit/change.ts";
import type { Fields } from "../../accounts/audit/store.ts";
import { DomainError } from "../../accounts/errors.ts";
import type { Database } from "../../backing/backing.ts";
import { monthBounds, monthOf, type Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd, parseUsd, type NanoUsd } from "../../kernel/money.ts";
import { topUpAutomatically } from "./automatic.ts";
import { type TopUpParts, byWeir } from "./change-top-up.ts";
import { topUpCentsMin, topUpMonthlyCapUsdMax, topUpThresholdUsdMax } from "./limits.ts";
import { cardRemovedMail } from "./mails.ts";
import { ofCents, parseBetween, parseTopUpAmount, type TopUpSettingsForm, type TopUpSettingsView } from "./schema.ts";
import * as store from "./store.ts";
import { CallRefusedError, type StripeApi } from "./stripe-api.ts";

/**
 * Changes the given settings. Records nothing if no value changed.
 * @throws DomainError forbidden except for admins, super admins and the operator; invalid_field; conflict when it is switched on without
 * a saved card
 */
export async function setTopUpSettings(
  { actor, workspace, form }: { actor: Actor; workspace: WorkspaceId; form: TopUpSettingsForm },
  parts: TopUpParts,
): Promise<void> {
  authorize(actor, { roles: managers, action: "change automatic top-up" });
  const amounts = parseAmounts(form);
  const removed = await change(actor, parts, async (tx) => {
    const before = await store.lockTopUpSettings(workspace, tx);
    const after = withMail({ ...before, ...amounts, ...switched(form, before) }, actor);
    const next = form.remove_card === true ? withoutCard(after) : after;
    requireFitting(next);
    const changes = changedFields({ before: audited(before), after: audited(next) });
    if (Object.keys(changes).length === 0) return { result: null, event: null };
    await store.updateTopUpSettings(next, tx);
    const card = next.paymentMethod === null ? before.paymentMethod : null;
    return { result: card, event: { event: "top_up.settings.updated", workspace, target: workspace, changes } };
  });
  if (removed !== null) await forgetAtStripe(removed, parts);
  if (form.enabled === true) await topUpNow(workspace, parts);
}

interface Sources {
  sql: Database;
  clock: Clock;
  /** null: the operator has set no key. */
  stripe: Pick<StripeApi, "isLive"> | null;
}

/** @throws DomainError forbidden for members */
export async function showTopUpSettings(
  { actor, workspace }: { actor: Actor; workspace: WorkspaceId },
  { sql, clock, stripe }: Sources,
): Promise<TopUpSettingsView> {
  authorize(actor, { roles: overseers, action: "see automatic top-up" });
  const row = await store.selectTopUpSettings(workspace, sql);
  const since = new Date(monthBounds(monthOf(clock.now())).startMs);
  const usd = (amount: NanoUsd | null): string | null => (amount === null ? null : formatUsd(amount));
  return {
    offered: stripe !== null,
    live: stripe?.isLive ?? false,
    card:
      row.cardBrand === null || row.cardLastFour === null || row.cardExpires === null
        ? null
        : { brand: row.cardBrand, last_four: row.cardLastFour, expires: row.cardExpires },
    enabled: row.enabled,
    paused: row.paused,
    threshold_usd: usd(row.threshold),
    amount_usd: usd(row.amount),
    monthly_cap_usd: usd(row.monthlyCap),
    month_usd: formatUsd(await store.sumAutomatic({ workspace, since, except: null }, sql)),
    declines: row.failures,
  };
}

/** Forgets a card that was removed at Stripe: automatic top-up is off from now on. */
export async function removeCard(paymentMethod: string, parts: TopUpParts, event: string): Promise<void> {
  for (const workspace of await store.selectWorkspacesOfCard(paymentMethod, parts.sql)) {
    await change(byWeir, parts, async (tx) => {
      const settings = await store.lockTopUpSettings(workspace, tx);
      const isNew = await store.claimEvent({ id: event, at: new Date(parts.clock.now()) }, tx);
      if (!isNew || settings.paymentMethod !== paymentMethod) return { result: null, event: null };
      await store.updateTopUpSettings(withoutCard(settings), tx);
      if (settings.enabled) await parts.mailManagers({ workspace, ...cardRemovedMail(parts.publicUrl) }, tx);
      const before = { enabled: settings.enabled, card: settings.cardLastFour };
      const changes = changedFields({ before, after: { enabled: false, card: null } });
      return { result: null, event: { event: "top_up.settings.updated", workspace, target: workspace, changes } };
    });
  }
}

function parseAmounts(form: TopUpSettingsForm): Partial<store.TopUpSettingsRow> {
  const { threshold_usd: threshold, amount_usd: amount, monthly_cap_usd: cap } = form;
  const between = (field: string, text: string, usdMax: number) =>
    parseBetween({ field, text, min: ofCents(topUpCentsMin), max: parseUsd(String(usdMax)) });
  return {
    ...(threshold !== undefined && { threshold: between("threshold_usd", threshold, topUpThresholdUsdMax) }),
    ...(amount !== undefined && { amount: parseTopUpAmount("amount_usd", amount) }),
    ...(cap !== undefined && { monthlyCap: between("monthly_cap_usd", cap, topUpMonthlyCapUsdMax) }),
  };
}

function withMail(row: store.TopUpSettingsRow, actor: Actor): store.TopUpSettingsRow {
  return actor.kind === "member" ? { ...row, receiptEmail: actor.email } : row;
}

/** Switching it on again confirms the card: earlier declines no longer count, and a pause ends. */
function switched({ enabled }: TopUpSettingsForm, before: store.TopUpSettingsRow): Partial<store.TopUpSettingsRow> {
  if (enabled === undefined) return {};
  const isAgain = enabled && (!before.enabled || before.paused);
  return { enabled, ...(isAgain && { failures: 0, paused: false }) };
}

/** A removal at Stripe also leads here. */
function withoutCard(row: store.TopUpSettingsRow): store.TopUpSettingsRow {
  return { ...row, paymentMethod: null, cardBrand: null, cardLastFour: null, cardExpires: null, enabled: false, paused: false };
}

/** @throws DomainError */
function requireFitting({ enabled, paymentMethod, threshold, amount, monthlyCap }: store.TopUpSettingsRow): void {
  const refuse = (code: "invalid_field" | "conflict", cause: string, field: string) =>
    new DomainError(code, `Cannot change automatic top-up: ${cause}`, { field });
  if (monthlyCap !== null && amount !== null && amount > monthlyCap)
    throw refuse("invalid_field", "the amount is above the monthly cap", "amount_usd");
  if (monthlyCap !== null && threshold !== null && threshold > monthlyCap)
    throw refuse("invalid_field", "the threshold is above the monthly cap", "threshold_usd");
  if (!enabled) return;
  if (paymentMethod === null) throw refuse("conflict", "there is no saved card; top up by card once, which saves it", "enabled");
  if (threshold === null) throw refuse("invalid_field", "a threshold is needed", "threshold_usd");
  if (amount === null) throw refuse("invalid_field", "an amount is needed", "amount_usd");
  if (monthlyCap === null) throw refuse("invalid_field", "a monthly cap is needed", "monthly_cap_usd");
}

/** Settings by their names in the control API. */
function audited(row: store.TopUpSettingsRow): Fields {
  const usd = (amount: bigint | null) => (amount === null ? null : formatUsd(amount));
  return {
    enabled: row.enabled,
    paused: row.paused,
    threshold_usd: usd(row.threshold),
    amount_usd: usd(row.amount),
    monthly_cap_usd: usd(row.monthlyCap),
    card: row.cardLastFour,
  };
}

/** Weir no longer charges the card in any case. Stripe refuses the call if the card is already gone. */
async function forgetAtStripe(paymentMethod: string, { stripe, log }: TopUpParts): Promise<void> {
  try {
    await stripe.removeCard(paymentMethod);
  } catch (error) {
    const reason = error instanceof CallRefusedError ? error.code : String(error);
    log.warn({ event: "top_up.card_not_removed", reason }, "A card that a workspace no longer uses is still saved at Stripe");
  }
}

/** Credit that is already below the threshold is topped up at once. If that fails, the worker tries again. */
async function topUpNow(workspace: WorkspaceId, parts: TopUpParts): Promise<void> {
  await topUpAutomatically(workspace, parts).catch((error: unknown) =>
    parts.log.warn(
      { event: "top_up.waits", reason: String(error) },
      "The outcome of a payment is not known yet; it is asked again",
    ),
  );
}

/** What a declined payment leads to: another try, a person's authentication, or the end of automatic top-up. */
import { changedFields } from "../../../accounts/audit/changes.ts";
import { topUpDeclinesMax, topUpRetryMs, topUpSecondRetryMs } from "../limits.ts";
import type { Locked } from "../change-top-up.ts";
import { failureMail } from "../mails.ts";
import { tellFailure } from "../tell-failure.ts";
import type { TopUpParts } from "../parts.ts";
import { updateTopUpSettings } from "../settings-store.ts";
import { updateTopUp } from "../store.ts";
import type { PaymentIntent } from "../stripe/stripe-api.ts";

/**
 * Codes with which the same card never succeeds: https://docs.stripe.com/declines/codes. Networks forbid to try it again.
 */
const hardCodes: ReadonlySet<string> = new Set([
  "card_not_supported",
  "currency_not_supported",
  "expired_card",
  "fraudulent",
  "incorrect_number",
  "invalid_account",
  "invalid_expiry_month",
  "invalid_expiry_year",
  "invalid_number",
  "lost_card",
  "merchant_blacklist",
  "new_account_information_available",
  "no_action_taken",
  "pickup_card",
  "restricted_card",
  "revocation_of_all_authorizations",
  "revocation_of_authorization",
  "stolen_card",
  "stop_payment_order",
  "transaction_not_allowed",
]);

/** The bank wants the person to authenticate the payment. */
function wantsPerson({ status, failure }: PaymentIntent): boolean {
  return status === "requires_action" || failure === "authentication_required";
}

/** A decline counts once, for the payment under way. In Checkout the payer tries another card by themselves. */
export async function declinePayment(intent: PaymentIntent, locked: Locked, parts: TopUpParts) {
  const { tx, settings, topUp } = locked;
  const isUnderWay = topUp.state === "confirming" || topUp.state === "processing";
  // A payment without a failure has not been decided yet.
  const isDecided = intent.failure !== null || intent.status === "requires_action";
  if (topUp.kind === "manual" || !isUnderWay || !isDecided || intent.topUp?.try !== topUp.try)
    return { result: "nothing" as const };
  if (!wantsPerson(intent)) return endTry({ failure: intent.failure ?? "declined", paymentIntent: intent.id }, locked, parts);
  await updateTopUp({ ...topUp, state: "action_required", failure: intent.failure, paymentIntent: intent.id }, tx);
  await updateTopUpSettings({ ...settings, paused: true }, tx);
  const changes = changedFields({ before: { paused: settings.paused }, after: { paused: true } });
  const { workspace, id } = topUp;
  return {
    result: "authenticate" as const,
    events: [{ event: "top_up.authentication_required", workspace, target: id, changes }],
  };
}

/**
 * Ends a try. The first decline is followed by another one after an hour, the second after a day; the third in a row, and a code that
 * never becomes better, switch automatic top-up off.
 * @param isFinal no further try could succeed
 */
export async function endTry(
  { failure, paymentIntent, isFinal = false }: { failure: string; paymentIntent: string | null; isFinal?: boolean },
  { tx, settings, topUp, now }: Locked,
  parts: TopUpParts,
) {
  const failures = settings.failures + 1;
  const isOff = isFinal || hardCodes.has(failure) || failures >= topUpDeclinesMax;
  const retryAt = isOff ? null : new Date(now.getTime() + (failures === 1 ? topUpRetryMs : topUpSecondRetryMs));
  const enabled = isOff ? false : settings.enabled;
  await updateTopUp({ ...topUp, state: "failed", failure, paymentIntent, retryAt, endedAt: isOff ? now : null }, tx);
  await updateTopUpSettings({ ...settings, failures, enabled }, tx);
  const mail = failureMail({ topUp, failure, retryAt }, parts.publicUrl);
  await tellFailure({ topUp, occurrence: `try ${topUp.try}`, failure, mail }, { sql: tx, clock: parts.clock });
  const { workspace, id } = topUp;
  const before = { declines: settings.failures, enabled: settings.enabled };
  const changes = changedFields({ before, after: { declines: failures, enabled, failure } });
  return { result: "nothing" as const, events: [{ event: "top_up.failed", workspace, target: id, changes }] };
}

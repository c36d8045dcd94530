/**
 * Stripe's pages: for a person's top-up, and for an automatic payment that its bank wants a person to authenticate; and what follows a
 * declined payment: another attempt, such a page, or the end of automatic top-up. After a crash the same call opens the page again, with
 * the top-up's key and the values of its row. After a call without an answer the next one has another key, since Stripe repeats a server
 * error for the same key for a day, and the address of a page that the first call opened is lost.
 */
import { changedFields, type AuditEvent } from "../../accounts/audit/change.ts";
import { DomainError } from "../../accounts/errors.ts";
import type { Transaction } from "../../backing/backing.ts";
import { changeTopUp, type TopUpParts, type Locked } from "./change-top-up.ts";
import { authenticationOpenMs, topUpDeclinesMax, topUpRetryMs, topUpSecondRetryMs } from "./limits.ts";
import { authenticationMail, tellFailure, failureMail } from "./mails.ts";
import { updateTopUp, type TopUpRow, updateTopUpSettings } from "./store.ts";
import { CallRefusedError, type CheckoutSession, type PaymentIntent } from "./stripe-api.ts";

/**
 * @param onOpened runs once, in the transaction that stores the page
 * @returns the top-up with its open page
 * @throws CallRefusedError after which the top-up has failed; StripeUnavailableError: the sweeper or the next call repeats it
 */
export async function openCheckout(
  topUp: TopUpRow,
  parts: TopUpParts,
  onOpened: (opened: TopUpRow, tx: Transaction) => Promise<void> = async () => {},
): Promise<TopUpRow> {
  const { id, workspace } = topUp;
  const session = await createCheckout(topUp, parts).catch(async (error: unknown) => {
    if (error instanceof CallRefusedError) await fail(topUp, error.code, parts);
    else await changeKey(topUp, parts);
    throw error;
  });
  const opened = await changeTopUp({ id, workspace }, parts, async ({ tx, topUp: present }) => {
    const state = present.state === "created" ? "open" : present.state;
    const next = { ...present, state, session: session.id, sessionUrl: session.url };
    await updateTopUp(next, tx);
    if (present.session === null) await onOpened(next, tx);
    return { result: next };
  });
  return opened ?? topUp;
}

/** The error of a person's request when Stripe has not done what was asked. @param action completes "Cannot …" */
export function stripeProblem(error: unknown, action: string): unknown {
  if (error instanceof CallRefusedError)
    return new DomainError("conflict", `Cannot ${action}: Stripe refused it as ${error.code}`, { cause: error });
  const isUnavailable = error instanceof Error && ["StripeUnavailableError", "KeyReusedError"].includes(error.name);
  if (!isUnavailable) return error;
  return new DomainError("unavailable", `Cannot ${action}: Stripe did not answer; try again`, { cause: error });
}

/**
 * Opens a page of Stripe for an automatic payment that its bank wants a person to authenticate, and mails it to the admins once.
 * Repeated after a crash, it opens the same page.
 */
export async function offerAuthentication(
  { id, workspace }: Pick<TopUpRow, "id" | "workspace">,
  parts: TopUpParts,
): Promise<void> {
  const prepared = await changeTopUp({ id, workspace }, parts, async ({ tx, topUp }) => {
    if (topUp.state !== "action_required" || topUp.session !== null) return { result: null };
    const next = { ...topUp, sessionExpiresAt: new Date(topUp.triedAt.getTime() + authenticationOpenMs) };
    await updateTopUp(next, tx);
    return { result: next };
  });
  if (prepared === null) return;
  await openCheckout(prepared, parts, async (opened, tx) => {
    const { sessionUrl: url } = opened;
    if (url === null) return;
    const told = { topUp: opened, occurrence: `page ${opened.try}`, failure: "authentication_required" };
    const mail = authenticationMail({ topUp: opened, url });
    await tellFailure({ ...told, mail }, { sql: tx, clock: parts.clock });
  });
}

async function createCheckout(topUp: TopUpRow, { stripe, publicUrl }: TopUpParts): Promise<CheckoutSession> {
  const { id, workspace, amount, customer, sessionExpiresAt } = topUp;
  if (customer === null || sessionExpiresAt === null) throw new Error(`The top-up ${id} has nothing to open a page with`);
  return stripe.createCheckout({
    topUp: id,
    try: topUp.try,
    amount,
    customer,
    expiresAt: sessionExpiresAt.getTime(),
    returnUrl: `${publicUrl}/console/w/${workspace}/top-ups/${id}`,
  });
}

/**
 * Its page can no longer be opened, for example because it expired. Automatic top-up is then off, since the payment cannot be
 * authenticated.
 */
async function fail({ id, workspace }: TopUpRow, failure: string, parts: TopUpParts): Promise<void> {
  await changeTopUp({ id, workspace }, parts, async (locked) => {
    const { tx, topUp, now } = locked;
    if (!topUp.isPending || topUp.session !== null) return { result: null };
    const { paymentIntent } = topUp;
    if (topUp.kind === "automatic")
      return { ...(await endTry({ failure, paymentIntent, isFinal: true }, locked, parts)), result: null };
    await updateTopUp({ ...topUp, state: "failed", failure, endedAt: now }, tx);
    return { result: null };
  });
}

async function changeKey({ id, workspace, try: tried }: TopUpRow, parts: TopUpParts): Promise<void> {
  await changeTopUp({ id, workspace }, parts, async ({ tx, topUp }) => {
    if (topUp.session === null && topUp.try === tried) await updateTopUp({ ...topUp, try: tried + 1 }, tx);
    return { result: null };
  });
}

// Declined payments

/** Codes with which the same card never succeeds: https://docs.stripe.com/declines/codes. Card networks forbid another attempt. */
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

/** A decline counts once, for the payment under way. In Checkout the payer can try another card. */
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
  const event: AuditEvent = { event: "top_up.authentication_required", workspace, target: id, changes };
  return { result: "authenticate" as const, events: [event] };
}

/**
 * Ends an attempt. The next one follows an hour after the first decline and a day after the second. The third decline in a row, or a code
 * with which the card never succeeds, switches automatic top-up off.
 * @param isFinal no further attempt could succeed
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
  const event: AuditEvent = { event: "top_up.failed", workspace, target: id, changes };
  return { result: "nothing" as const, events: [event] };
}

/** The bank wants the person to authenticate the payment. */
function wantsPerson({ status, failure }: PaymentIntent): boolean {
  return status === "requires_action" || failure === "authentication_required";
}

/**
 * The mails to a workspace's admins and super admins about its top-ups, which go into the transaction of what they report. Each is sent
 * once. No mail contains text from a user or from Stripe.
 */
import { raiseAlert } from "../../accounts/alerts/alerts.ts";
import { failedTopUpText } from "../../accounts/alerts/words.ts";
import type { Transaction } from "../../backing/backing.ts";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import type { TopUpRow } from "./store.ts";

export interface MailText {
  /** It contains no text from a user. */
  subject: string;
  body: string;
}

type Payment = Pick<TopUpRow, "id" | "amount">;

/** @param retryAt null: automatic top-up is off now */
export function failureMail(
  { topUp, failure, retryAt }: { topUp: Payment; failure: string; retryAt: Date | null },
  publicUrl: string,
): MailText {
  const next =
    retryAt === null
      ? "Automatic top-up is switched off now. Top up by card once, which saves the card, and switch it on again."
      : `The same card is tried again at ${isoTime(retryAt.getTime())}.`;
  return {
    subject: retryAt === null ? "Automatic top-up is off: the card was declined" : "A top-up failed: the card was declined",
    body: `The automatic top-up ${topUp.id} of ${cents(topUp.amount)} USD failed: ${failure}.

${next}
Requests are answered as long as there is credit.

${publicUrl}
`,
  };
}

export function authenticationMail({ topUp, url }: { topUp: Payment; url: string }): MailText {
  return {
    subject: "A top-up waits for you: the bank wants to see a person",
    body: `The bank of the saved card wants a person to authenticate the automatic top-up ${topUp.id} of ${cents(topUp.amount)} USD.

Automatic top-up pauses until somebody pays at this page of Stripe, within 23 hours:

${url}
`,
  };
}

export function disputeMail({ topUp, amount }: { topUp: Payment; amount: NanoUsd }, publicUrl: string): MailText {
  return {
    subject: "A card payment is disputed",
    body: `The holder of the card disputes the top-up ${topUp.id}: ${cents(amount)} USD.

While Stripe holds that amount back, it is not part of the credit, which may be below zero. Automatic top-up is off.

${publicUrl}
`,
  };
}

export function cardRemovedMail(publicUrl: string): MailText {
  return {
    subject: "Automatic top-up is off: the saved card was removed",
    body: `The saved card was removed at Stripe, and automatic top-up is off. Top up by card once to save another one.

${publicUrl}
`,
  };
}

interface Failure {
  topUp: Pick<TopUpRow, "id" | "workspace" | "amount" | "kind">;
  /** The failure; the same one is reported once. */
  occurrence: string;
  /** Stripe's code. */
  failure: string;
  mail: MailText;
}

/** Reports a failed top-up to admins by mail and to the webhooks of the workspace's rule, in the transaction that stores the failure. */
export async function tellFailure(
  { topUp, occurrence, failure, mail }: Failure,
  sources: { sql: Transaction; clock: Clock },
): Promise<void> {
  const { id, workspace, amount, kind } = topUp;
  const usd = formatUsd(amount);
  const event = { workspace, kind: "top_up_failed" as const, subject: id, occurrence };
  const text = failedTopUpText({ id, amount, failure });
  await raiseAlert({ ...event, text, data: { failure, top_up: { id, kind, amount_usd: usd } }, mail }, sources);
}

/** Whole cents. */
function cents(amount: NanoUsd): string {
  return formatUsd(amount).slice(0, -7);
}

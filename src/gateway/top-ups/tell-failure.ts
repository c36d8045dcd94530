import { raiseAlert } from "../../accounts/alerts/raise-alert.ts";
import type { Transaction } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { formatUsd } from "../../kernel/money.ts";
import type { MailText } from "./mails.ts";
import type { TopUpRow } from "./store.ts";

interface Failure {
  topUp: Pick<TopUpRow, "id" | "workspace" | "amount" | "kind">;
  /** What failed of it; the same is told once. */
  occurrence: string;
  /** Stripe's code. */
  failure: string;
  mail: MailText;
}

/** Tells admins of a failed top-up by mail, and the webhooks of the workspace's rule, in the transaction that stores the failure. */
export async function tellFailure(
  { topUp, occurrence, failure, mail }: Failure,
  sources: { sql: Transaction; clock: Clock },
): Promise<void> {
  const { id, workspace, amount, kind } = topUp;
  const usd = formatUsd(amount);
  const event = { workspace, kind: "top_up_failed" as const, subject: id, occurrence };
  const text = `The top-up ${id} of ${usd.slice(0, -7)} USD failed: ${failure}`;
  await raiseAlert({ ...event, text, data: { failure, top_up: { id, kind, amount_usd: usd } }, mail }, sources);
}

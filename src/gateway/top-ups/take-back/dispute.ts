/** Disputes of a card's holder: Stripe takes the money at once, and so does the ledger, even where it is spent. */
import { changedFields } from "../../../accounts/audit/changes.ts";
import { raiseAlarm } from "../../../kernel/alarm.ts";
import { formatUsd, type NanoUsd } from "../../../kernel/money.ts";
import { bookMovement } from "../../credit/credit.ts";
import { changeTopUp, refreshed, type Locked } from "../change-top-up.ts";
import { disputeMail } from "../mails.ts";
import type { TopUpParts } from "../parts.ts";
import { findPaidTopUp } from "../payments/find-paid.ts";
import { disputeReference } from "../references.ts";
import { updateTopUpSettings } from "../settings-store.ts";
import { updateTopUp } from "../store.ts";

export interface Dispute {
  /** Stripe's id. */
  id: string;
  paymentIntent: string;
  amount: NanoUsd;
}

/** `opened`: no money has moved yet. */
export type DisputeStep = "opened" | "withdrawn" | "reinstated";

/** Each step of a dispute is applied once, whichever event or list tells of it. */
export function disputeStepKey({ id }: Pick<Dispute, "id">, step: DisputeStep): string {
  return `${id} ${step}`;
}

/**
 * Takes the disputed amount out of the credit, or returns it. A dispute is booked once each way, in whichever order its steps are told:
 * a returned amount counts as taken before.
 */
export async function applyDispute({ dispute, step }: { dispute: Dispute; step: DisputeStep }, parts: TopUpParts): Promise<void> {
  const known = await findPaidTopUp(dispute.paymentIntent, parts);
  if (!known) return;
  const { id, workspace } = known;
  const event = disputeStepKey(dispute, step);
  const moved = await changeTopUp({ id, workspace, event }, parts, (locked) => booked({ dispute, step }, locked, parts));
  if (moved === null) return;
  await refreshed(workspace, parts);
  if (step === "reinstated") return;
  const facts = { workspace, topUp: id, dispute: dispute.id };
  raiseAlarm(parts.log, "top_up.disputed", facts, "The holder of a card disputes a payment; automatic top-up is off");
}

async function booked({ dispute, step }: { dispute: Dispute; step: DisputeStep }, locked: Locked, parts: TopUpParts) {
  const { tx, topUp, settings } = locked;
  const { workspace } = topUp;
  const reference = disputeReference(dispute.id);
  const { amount } = dispute;
  const takes = step !== "opened" && (await bookMovement({ workspace, kind: "dispute", amount: -amount, reference }, tx));
  const returns = step === "reinstated" && (await bookMovement({ workspace, kind: "dispute_reinstated", amount, reference }, tx));
  const disputed = topUp.disputed + (takes ? amount : 0n) - (returns ? amount : 0n);
  await updateTopUp({ ...topUp, disputed }, tx);
  if (step !== "reinstated") {
    await updateTopUpSettings({ ...settings, enabled: false }, tx);
    if (step === "opened") await parts.mailManagers({ workspace, ...disputeMail({ topUp, amount }, parts.publicUrl) }, tx);
  }
  const after = { usd: formatUsd(amount), dispute: dispute.id, disputed_usd: formatUsd(disputed) };
  const changes = changedFields({ before: { disputed_usd: formatUsd(topUp.disputed) }, after });
  return { result: true, events: [{ event: `top_up.dispute_${step}`, workspace, target: topUp.id, changes }] };
}

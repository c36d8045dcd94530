import type { WorkspaceId } from "../../../src/kernel/ids.ts";
import { Notes, type Finding } from "../evidence.ts";
import { eventsOf, type EventOf, type History } from "../history.ts";

/**
 * I-21: after the run, each payment that Stripe took from a card is in the ledger once, with its amount, and the ledger has what Stripe
 * kept of all of them. A workspace's automatic payment is taken only when the one before is credited, and a month's never pass the cap.
 */
export function creditedOnce(history: History): Finding {
  const notes = new Notes();
  const payments = new Map<string, Payment>();
  const months = new Map<string, bigint>();
  for (const event of history) {
    if (event.kind === "paid") {
      checkAutomatic(event, { payments, months }, notes);
      payments.set(event.payment, { ...event, credits: [] });
    }
    if (event.kind !== "credited" || !event.payment) continue;
    const payment = payments.get(event.payment);
    notes.check(payment !== undefined, () => `${event.payment}: credited in ${event.workspace}, but Stripe has no such payment`);
    payment?.credits.push(event.amount);
  }
  for (const { payment, workspace, amount, credits } of payments.values()) {
    notes.check(
      credits.length === 1 && credits[0] === amount,
      () => `${payment}: Stripe has ${amount} for ${workspace}, where it is credited as ${credits.join(" and ") || "nothing"}`,
    );
  }
  for (const { workspace, amount } of eventsOf(history, "kept")) {
    const booked = eventsOf(history, "credited").filter((event) => event.workspace === workspace && event.payment !== undefined);
    const sum = booked.reduce((total, one) => total + one.amount, 0n);
    notes.check(sum === amount, () => `${workspace}: Stripe kept ${amount} of its payments, but the ledger has ${sum}`);
  }
  return notes;
}

interface Payment extends EventOf<"paid"> {
  credits: bigint[];
}

function checkAutomatic(
  { workspace, payment, amount, automatic }: EventOf<"paid">,
  { payments, months }: { payments: Map<string, Payment>; months: Map<string, bigint> },
  notes: Notes,
): void {
  if (automatic === null) return;
  const open = openOf(workspace, payments);
  notes.check(open === undefined, () => `${payment}: ${workspace} paid it while its ${open?.payment} was not credited`);
  const month = `${workspace} ${automatic.month}`;
  const sum = (months.get(month) ?? 0n) + amount;
  months.set(month, sum);
  notes.check(sum <= automatic.cap, () => `${payment}: ${workspace} paid ${sum} in ${automatic.month}, above ${automatic.cap}`);
}

function openOf(workspace: WorkspaceId, payments: Map<string, Payment>): Payment | undefined {
  return [...payments.values()].find((one) => one.workspace === workspace && one.automatic !== null && one.credits.length === 0);
}

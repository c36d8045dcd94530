/** The customer whose credit comes by card: a Checkout by a person, then automatic top-up, with lost answers and repeated events. */
import { parseUsd } from "../../../../src/kernel/money.ts";
import { delivery, type StubEvent } from "../../../support/stripe/stripe-stub.ts";
import { until } from "../../../support/until.ts";
import type { CardNotes } from "../checks/notes.ts";
import { Control } from "../world/control.ts";
import type { Testbed } from "../world/testbed.ts";
import type { Customer } from "./customers.ts";
import { UntilStopped } from "./until-stopped.ts";

const stepUsd = 5;
const monthlyCapUsd = 5_000;
const endMsMax = 60_000;
/** The first payment comes before any fault, but a busy machine may take long for it. */
const beginMsMax = 60_000;

/** What becomes of the answer to every third payment. */
const answers = ["lost", "error", "hangs"] as const;
const charge = "POST /v1/payment_intents";

export class CardPayments {
  readonly #testbed: Testbed;
  readonly #control: Control;
  readonly #workspace: string;
  readonly #paid: { at: number; payment: string; amount: bigint; isAutomatic: boolean }[] = [];
  #running: UntilStopped[] = [];
  #sent = 0;

  private constructor(testbed: Testbed, workspace: string) {
    this.#testbed = testbed;
    this.#control = new Control(testbed);
    this.#workspace = workspace;
    const { account } = testbed.stripe;
    const { onEvent } = account;
    account.onEvent = (type, object) => {
      if (type === "payment_intent.succeeded") this.#notePaid(object.id);
      onEvent(type, object);
    };
    testbed.stripe.onCarriedOut = (operation) => this.#interrupt(operation);
  }

  /** A person pays once, which saves the card. */
  static async begin(testbed: Testbed, customers: readonly Customer[]): Promise<CardPayments> {
    const workspace = customers.find(({ kind }) => kind === "card")?.workspace ?? "";
    const payments = new CardPayments(testbed, workspace);
    const form = { workspace, usd: String(stepUsd) };
    const { id } = await payments.#control.any((operator) => operator.call<{ id: string }>("POST", "/top-ups", form));
    testbed.stripe.account.pay(testbed.stripe.account.pageOf(id));
    await until(() => payments.#deliver(testbed.stripe.event("checkout.session.completed")), beginMsMax);
    payments.#running = [
      new UntilStopped((n) => payments.#raise(n)),
      new UntilStopped(async () => {
        await payments.#deliverNext();
        return true;
      }),
    ];
    return payments;
  }

  /** Ends automatic top-up, and waits until every payment is decided, by looking at those under way, as a person in the Console would. */
  async end(): Promise<CardNotes> {
    await Promise.all(this.#running.map((one) => one.stop()));
    // The credit is mostly still below the threshold: a payment would begin after those under way were looked at.
    const off = { workspace: this.#workspace, enabled: false };
    await this.#control.any((operator) => operator.call("PATCH", "/top-up-settings", off));
    await until(async () => (await this.#deliverNext()) && (await this.#areDecided()), endMsMax);
    return { workspace: this.#workspace, monthlyCap: parseUsd(String(monthlyCapUsd)), paid: this.#paid };
  }

  /** Raises the threshold above the credit. In every second case the gateway charges at once, while the workers run. */
  async #raise(n: number): Promise<boolean> {
    const threshold = (n + 3) * stepUsd;
    if (threshold > monthlyCapUsd) return false;
    const amounts = { threshold_usd: String(threshold), amount_usd: String(stepUsd), monthly_cap_usd: String(monthlyCapUsd) };
    const isFirst = n % 2 === 0;
    const form = { workspace: this.#workspace, ...amounts, ...(isFirst && { enabled: true }) };
    const answer = answers[Math.floor(n / 3) % answers.length];
    if (n % 3 === 2 && answer !== undefined) this.#testbed.stripe.faults.set(charge, [answer]);
    await this.#control.any((operator) => operator.call("PATCH", "/top-up-settings", form));
    return true;
  }

  #notePaid(payment: string): void {
    const { amount_received: cents, setup_future_usage: saves } = this.#testbed.stripe.account.intent(payment);
    this.#paid.push({ at: Date.now(), payment, amount: BigInt(cents) * 10_000_000n, isAutomatic: saves === null });
  }

  /** Some payments are made just before the process that may have asked for them dies, and others while their events arrive already. */
  #interrupt(operation: string): void {
    if (operation !== charge) return;
    if (this.#paid.length % 4 === 1) this.#testbed.parts.get(`metering-${1 + (this.#paid.length % 2)}`)?.signal("SIGKILL");
    if (this.#paid.length % 4 === 2) void this.#deliver(this.#testbed.stripe.event("payment_intent.succeeded")).catch(() => {});
  }

  /** Some events come twice at once, and some never. */
  async #deliverNext(): Promise<boolean> {
    for (let event = this.#testbed.stripe.events[this.#sent]; event; event = this.#testbed.stripe.events[this.#sent]) {
      const copies = [1, 2, 1, 0][this.#sent % 4] ?? 1;
      const answered = await Promise.all(Array.from({ length: copies }, () => this.#deliver(event)));
      if (answered.includes(false)) return false;
      this.#sent++;
    }
    return true;
  }

  /** To the first gateway that takes it. */
  async #deliver(event: StubEvent): Promise<boolean> {
    for (const { url } of this.#testbed.gateways) {
      const sent = fetch(delivery(event, { url }), { signal: AbortSignal.timeout(10_000) });
      if ((await sent.catch(() => null))?.status === 200) return true;
    }
    return false;
  }

  async #areDecided(): Promise<boolean> {
    const path = `/top-ups?workspace=${this.#workspace}&limit=1000`;
    const { data } = await this.#control.any((operator) => operator.call<{ data: { id: string; state: string }[] }>("GET", path));
    const open = data.filter(({ state }) => state === "confirming" || state === "processing" || state === "paid");
    for (const { id } of open) await this.#control.any((operator) => operator.call("GET", `/top-ups/${id}`)).catch(() => null);
    return open.length === 0;
  }
}

/** What people do about cards in a run: those of the workspaces, the operator, and the holders of cards. */
import type { Actor } from "../../../src/accounts/audit/actor.ts";
import type { RefundParts } from "../../../src/gateway/top-ups/change-top-up.ts";
import { checkTopUp } from "../../../src/gateway/top-ups/payments.ts";
import { createTopUp } from "../../../src/gateway/top-ups/top-ups.ts";
import { setTopUpSettings } from "../../../src/gateway/top-ups/settings.ts";
import { selectTopUp } from "../../../src/gateway/top-ups/store.ts";
import { refundTopUp } from "../../../src/gateway/top-ups/take-back.ts";
import type { StubIntent } from "../../support/stripe/stub-account.ts";
import type { Chance } from "../chance.ts";
import type { SimGateway } from "../gateway.ts";
import type { Scheduler } from "../scheduler.ts";
import { mustBeExplained } from "./explained.ts";
import { nanoPerCent } from "./plan.ts";
import type { Declined, TopUps } from "./top-ups.ts";

const actor: Actor = { kind: "operator" };

interface PeopleParts {
  scheduler: Scheduler;
  chance: Chance;
  topUps: TopUps;
  /** The workspace with more credit than it needs: only its payments are taken back, so that no request depends on their amounts. */
  rich: string;
  gateways(): SimGateway[];
}

export class People {
  readonly #parts: PeopleParts;

  constructor(parts: PeopleParts) {
    this.#parts = parts;
  }

  /** Opens a page for a top-up, and pays there or leaves. */
  topUp(workspace: string): void {
    const form = { usd: this.#parts.chance.pick(["5", "5", "7.50"]) };
    this.#atGateway(async (parts) => {
      const { id } = await createTopUp({ actor, workspace, form }, parts);
      this.visitPage({ topUp: id, workspace });
    });
  }

  /** Pays on the page of a top-up, or leaves it; then often looks at the top-up in the Console. */
  visitPage({ topUp, workspace }: { topUp: string; workspace: string }): void {
    const { chance, scheduler, topUps } = this.#parts;
    const { account } = topUps.stripe;
    scheduler.plan(chance.between(500, 10_000), null, () => {
      // No person knows the address of a page that Weir does not know.
      const page = account.sessions.get(topUps.pageOf(topUp) ?? "");
      if (page?.status !== "open" || chance.happens(0.1)) return;
      if (chance.happens(0.1)) account.expire(page);
      else account.pay(page);
      if (chance.happens(0.6)) this.#look(topUp);
      if (workspace === this.#parts.rich && page.payment_intent !== null) this.#regret(account.intent(page.payment_intent));
    });
  }

  /** Pays on the page that the bank asks for, waits for the next try, or pays with another card. */
  answerDecline({ topUp, workspace, code }: Declined): void {
    const { chance, scheduler, topUps } = this.#parts;
    if (code === "authentication_required") return this.visitPage({ topUp, workspace });
    if (chance.happens(0.7)) scheduler.plan(chance.between(2_000, 15_000), null, () => topUps.endPause(topUp));
    if (chance.happens(0.2)) this.topUp(workspace);
  }

  /** Some payments are refunded or disputed, now or later, also before Weir has learned of them. */
  #regret(paid: StubIntent): void {
    const { chance, scheduler } = this.#parts;
    const later = (act: () => void) => void scheduler.plan(chance.next() * chance.pick([10, 20_000]), null, act);
    if (chance.happens(0.3)) later(() => this.#refundElsewhere(paid));
    for (let times = chance.between(0, 2); times > 0; times--) later(() => this.#refund(paid));
    if (chance.happens(0.3)) later(() => this.#dispute(paid));
  }

  switchOn(workspace: string): void {
    this.#atGateway((parts) => setTopUpSettings({ actor, workspace, form: { enabled: true } }, parts));
  }

  /** The operator refunds a part or all of what is left. */
  #refund(paid: StubIntent): void {
    const { chance, topUps, rich } = this.#parts;
    const form = chance.happens(0.7) ? { usd: `0.${chance.between(10, 99)}` } : {};
    this.#atGateway(async (parts) => {
      await refundTopUp({ actor, workspace: rich, id: paid.metadata["topup"] ?? "", form }, parts);
      const made = [...topUps.stripe.account.refunds.values()].findLast(({ payment_intent: of }) => of === paid.id);
      if (made && chance.happens(0.2)) this.#fail(made.id);
    });
  }

  /** In Stripe's dashboard, which knows nothing of Weir. */
  #refundElsewhere(paid: StubIntent): void {
    const { chance, topUps } = this.#parts;
    const { account } = topUps.stripe;
    const amount = chance.between(1, 99) * nanoPerCent;
    const refunds = [...account.refunds.values()].filter(({ payment_intent: of }) => of === paid.id);
    if (refunds.reduce((left, refund) => left - refund.amount, paid.amount_received) < amount) return;
    const made = account.refund({ amount, payment_intent: paid.id, metadata: {} });
    if (chance.happens(0.3)) this.#fail(made.id);
  }

  /** The holder of the card disputes a part of a payment; its events come in any order. */
  #dispute(paid: StubIntent): void {
    const { chance, topUps } = this.#parts;
    const amount = chance.between(1, 99) * nanoPerCent;
    const { account } = topUps.stripe;
    const dispute = { id: account.id("dp"), amount, payment_intent: paid.id };
    const isReturned = chance.happens(0.5);
    // The sweeper may find it before its events come.
    const moved = [-amount, ...(isReturned ? [amount] : [])].map((cents) => ({ id: account.id("txn"), amount: cents }));
    const listed = { ...dispute, object: "dispute" as const, created: 0, status: "needs_response", currency: "usd" };
    account.disputes.set(dispute.id, { ...listed, balance_transactions: moved });
    if (!isReturned) topUps.withheld.set(paid.id, (topUps.withheld.get(paid.id) ?? 0) + amount);
    topUps.emit("charge.dispute.created", dispute);
    topUps.emit("charge.dispute.funds_withdrawn", dispute);
    if (isReturned) topUps.emit("charge.dispute.funds_reinstated", dispute);
  }

  #fail(refund: string): void {
    const { chance, scheduler, topUps } = this.#parts;
    const made = topUps.stripe.account.refunds.get(refund);
    scheduler.plan(chance.between(10, 10_000), null, () => {
      if (!made || made.status === "failed") return;
      made.status = "failed";
      topUps.emit("refund.failed", { ...made });
    });
  }

  #look(topUp: string): void {
    this.#atGateway(async (parts) => {
      const row = await selectTopUp(topUp, parts.sql);
      if (row) await checkTopUp(row, parts);
    });
  }

  #atGateway(act: (parts: RefundParts) => Promise<void>): void {
    const { chance, scheduler, topUps, gateways } = this.#parts;
    const gateway = chance.pick(gateways());
    scheduler.plan(1, gateway.host, () => void act(topUps.partsOfGateway(gateway)).catch(mustBeExplained));
  }
}

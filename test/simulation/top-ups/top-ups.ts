/** Card top-up in a run: the product's code in gateways and workers, over the simulated Stripe and database. */
import type { WorkspaceId } from "../../../src/kernel/ids.ts";
import { monthOf } from "../../../src/kernel/clock.ts";
import type { RefundParts } from "../../../src/gateway/top-ups/change-top-up.ts";
import { repeatTopUps } from "../../../workers/top-ups.ts";
import type { CardBehaviour, StubIntent, StubObject } from "../../support/stripe/stub-account.ts";
import type { Chance } from "../chance.ts";
import type { SimGateway } from "../gateway.ts";
import type { Recorder } from "../recorder.ts";
import type { Scheduler } from "../scheduler.ts";
import type { CountersServer } from "../world/counters-server.ts";
import type { Host } from "../world/host.ts";
import type { LedgerServer } from "../world/ledger-server.ts";
import type { NetworkConditions } from "../world/network-conditions.ts";
import { watchfulLog } from "./explained.ts";
import { Deliveries } from "./deliveries.ts";
import type { AutomaticTopUp } from "./plan.ts";
import { StripeServer } from "./stripe-server.ts";
import { TopUpDatabase } from "./top-up-database.ts";

export interface TopUpSimulationParts {
  scheduler: Scheduler;
  conditions: NetworkConditions;
  recorder: Recorder;
  counters: CountersServer;
  ledger: LedgerServer;
  chance: Chance;
  gateways(): SimGateway[];
}

export interface Declined {
  topUp: string;
  workspace: WorkspaceId;
  /** Stripe's. */
  code: string;
}

export class TopUps {
  readonly stripe: StripeServer;
  readonly database: TopUpDatabase;
  /** Called when a bank declines an automatic payment. */
  onDecline: (declined: Declined) => void = () => {};
  /** What disputes hold back, by the payment's id. */
  readonly withheld = new Map<string, number>();
  readonly #parts: TopUpSimulationParts;
  readonly #deliveries: Deliveries;
  #isResting = false;

  constructor(parts: TopUpSimulationParts) {
    this.#parts = parts;
    this.stripe = new StripeServer(parts);
    this.database = new TopUpDatabase(parts.ledger);
    this.#deliveries = new Deliveries({ ...parts, topUps: this });
    this.stripe.account.onEvent = (type, object) => this.emit(type, object);
  }

  /** The number of payments that a bank declined. */
  get declined(): number {
    return [...this.stripe.account.intents.values()].filter(({ last_payment_error: error }) => error !== null).length;
  }

  /** What is not done yet: events without an answer, and payments and refunds whose outcome is not known. */
  get unfinished(): number {
    const [counted] = this.database.run(
      `SELECT (SELECT count(*) FROM top_ups WHERE state IN ('confirming', 'processing', 'paid')) +
        (SELECT count(*) FROM top_up_refunds WHERE state = 'pending') AS count`,
    );
    return Number(counted?.["count"]) + this.#deliveries.waiting;
  }

  /** An event of Stripe, which is announced to the gateways. */
  emit(type: string, object: StubObject): void {
    if (type === "payment_intent.succeeded") this.#notePaid(this.stripe.account.intent(object.id));
    const { metadata, last_payment_error: error } = this.stripe.account.intents.get(object.id) ?? {};
    const topUp = metadata?.["topup"] ?? "";
    if (error) this.onDecline({ topUp, workspace: this.#rowOf(topUp).workspace, code: error.code });
    this.#deliveries.send(this.stripe.account.id("evt"), type, object);
  }

  partsOfGateway(gateway: SimGateway): RefundParts {
    const refresh = async (workspace: WorkspaceId): Promise<void> => gateway.refresh(workspace);
    return { ...this.#partsOf(gateway.host), refresh };
  }

  /** From now on the workers only end what is unfinished, which saves most of the time that an idle run takes. */
  rest(): void {
    this.#isResting = true;
  }

  /** Runs the worker. Several at once make no further payment, so their lock excludes none. */
  startWorker(host: Host): void {
    const counters = this.#parts.counters.clientOf(host);
    const maintenance = this.#parts.ledger.maintenance(host);
    const refresh = async (workspace: WorkspaceId): Promise<void> => {
      const accounts = await maintenance.readAccounts([workspace], monthOf(await counters.now()));
      await counters.resolveMany({ resolve: [], accounts, keyMonths: [] });
    };
    const free = { [Symbol.asyncDispose]: async () => {} };
    const lock = async () => (this.#isResting && this.unfinished === 0 ? null : free);
    repeatTopUps({ ...this.#partsOf(host), refresh }, lock);
  }

  enable(workspace: string, { threshold, amount, monthlyCap }: AutomaticTopUp): void {
    const { account } = this.stripe;
    const card = account.id("pm");
    account.cards.set(card, "visa");
    this.database.run(
      `INSERT INTO top_up_settings (workspace_id, customer, payment_method, enabled, threshold_nano, amount_nano, monthly_cap_nano)
      VALUES (?, ?, ?, true, ?, ?, ?)`,
      workspace,
      account.id("cus"),
      card,
      threshold,
      amount,
      monthlyCap,
    );
  }

  /** The cap stays, so that every payment of a month counts against the same one. */
  change(workspace: string, { threshold, amount }: AutomaticTopUp): void {
    this.database.run(
      "UPDATE top_up_settings SET threshold_nano = ?, amount_nano = ? WHERE workspace_id = ?",
      threshold,
      amount,
      workspace,
    );
  }

  /** What the current card does from now on. */
  setCard(workspace: string, behaviour: CardBehaviour): void {
    const [row] = this.database.run("SELECT payment_method AS card FROM top_up_settings WHERE workspace_id = ?", workspace);
    if (row) this.stripe.account.cards.set(String(row["card"]), behaviour);
  }

  /** No run lasts as long as the pause after a decline, so that its end comes sooner. */
  endPause(topUp: string): void {
    this.database.run("UPDATE top_ups SET retry_at = tried_at WHERE id = ? AND retry_at IS NOT NULL", topUp);
  }

  /** Stripe's id of the page that Weir has for a top-up; null: none. */
  pageOf(topUp: string): string | null {
    const [row] = this.database.run("SELECT session FROM top_ups WHERE id = ?", topUp);
    return row?.["session"] === null || row === undefined ? null : String(row["session"]);
  }

  close(ms: number): void {
    this.stripe.server.isDead = true;
    this.#parts.scheduler.plan(ms, null, () => void (this.stripe.server.isDead = false));
  }

  /** What Stripe has of all payments at the end. */
  noteKept(): void {
    const { account } = this.stripe;
    const kept = new Map<string, bigint>();
    for (const { id, amount_received: received, metadata } of account.intents.values()) {
      const { workspace } = this.#rowOf(metadata["topup"]);
      const refunds = [...account.refunds.values()].filter((one) => one.payment_intent === id && one.status !== "failed");
      const left = refunds.reduce((sum, { amount }) => sum - amount, received) - (this.withheld.get(id) ?? 0);
      kept.set(workspace, (kept.get(workspace) ?? 0n) + BigInt(left));
    }
    for (const [workspace, amount] of kept) this.#parts.recorder.note({ kind: "kept", workspace, amount });
  }

  #notePaid({ id: payment, amount_received: amount, metadata }: StubIntent): void {
    const { workspace, kind, triedAt, cap } = this.#rowOf(metadata["topup"]);
    const automatic = kind === "automatic" ? { month: monthOf(triedAt.getTime()), cap } : null;
    this.#parts.recorder.note({ kind: "paid", workspace, payment, amount: BigInt(amount), automatic });
  }

  #rowOf(topUp: string | undefined): { workspace: string; kind: string; triedAt: Date; cap: bigint } {
    const [row] = this.database.run(
      `SELECT t.workspace_id AS workspace, kind, tried_at AS "triedAt", monthly_cap_nano AS cap
      FROM top_ups t JOIN top_up_settings s ON s.workspace_id = t.workspace_id WHERE t.id = ?`,
      topUp,
    );
    if (!row) throw new Error(`The simulated Stripe has a payment of ${topUp}, which the database does not have`);
    // The columns have these types.
    return row as { workspace: string; kind: string; triedAt: Date; cap: bigint };
  }

  #partsOf(host: Host): Omit<RefundParts, "refresh"> {
    const counters = this.#parts.counters.clientOf(host);
    const reserved = async (workspace: string) => (await counters.read(workspace, null)).account?.reserved ?? 0n;
    return {
      sql: this.database.of(host),
      clock: host.clock,
      log: watchfulLog,
      stripe: this.stripe.of(host),
      publicUrl: "https://weir.test",
      reserved,
      held: reserved,
      mailManagers: async () => {},
    };
  }
}

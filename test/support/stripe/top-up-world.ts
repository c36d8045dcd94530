/** Card top-up over a database and the stub of Stripe, in this process: the control API, the webhook and the worker's rounds. */
import type { Database } from "../../../src/backing/backing.ts";
import type { RefundParts } from "../../../src/gateway/top-ups/change-top-up.ts";
import { sweepTopUps, topUpWhereDue } from "../../../src/gateway/top-ups/sweep.ts";
import { stripeClient } from "../../../src/gateway/top-ups/stripe-client.ts";
import { TrustedProxies } from "../../../src/kernel/proxies.ts";
import { stripeWebhookRoutes } from "../../../src/gateway/top-ups/webhook.ts";
import { verifyLedger } from "../../../src/gateway/metering/verify.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { mailManagers } from "../../../src/accounts/mails/mail-managers.ts";
import { Control } from "../control.ts";
import { delivery, StripeStub, webhookSecret, type StubEvent } from "./stripe-stub.ts";

export class TopUpWorld implements Disposable {
  readonly control: Control;
  readonly stub = new StripeStub();
  readonly parts: RefundParts;
  /** What open requests hold, in nano-USD. */
  reserved: bigint | null = 0n;
  readonly #sql: Database;
  readonly #webhook: ReturnType<typeof stripeWebhookRoutes>;

  constructor(sql: Database, control = new Control(sql)) {
    this.#sql = sql;
    this.control = control;
    const { clock, parts } = control;
    this.stub.account.now = () => clock.now();
    this.parts = {
      sql,
      clock,
      log: parts.log,
      publicUrl: parts.publicUrl,
      stripe: stripeClient(this.stub.config),
      reserved: async () => this.reserved,
      held: async () => this.reserved,
      refresh: parts.refresh,
      mailManagers: (mail, tx) => mailManagers(mail, tx, { bus: { broadcast() {} }, clock }),
    };
    parts.topUps = this.parts;
    this.#webhook = stripeWebhookRoutes({
      ...this.parts,
      secrets: [new Secret("whsec_the_next_one"), new Secret(webhookSecret)],
      proxies: new TrustedProxies([]),
    });
  }

  [Symbol.dispose](): void {
    this.stub[Symbol.dispose]();
  }

  /** Delivers an event of the stub as many times at once as asked. @returns the statuses */
  async deliver(event: StubEvent, times = 1): Promise<number[]> {
    const atMs = this.control.clock.now();
    const sent = Array.from({ length: times }, () => this.send(delivery(event, { atMs })));
    return (await Promise.all(sent)).map(({ status }) => status);
  }

  send(request: Request): Promise<Response> {
    return Promise.resolve(this.#webhook.handle(request));
  }

  /** A person opens a page for an amount, and pays there. @param as absent: the operator @returns the saved card and the top-up, which is not credited yet */
  async pay(workspace: string, usd = "20", as?: string): Promise<{ id: string; card: string; intent: string }> {
    // Ids are in the order of their milliseconds.
    this.control.clock.advance(1);
    const { id } = await this.control.expect("POST", "/top-ups", { body: { workspace, usd }, ...(as && { as }) });
    const session = this.stub.account.pageOf(String(id));
    const card = this.stub.account.pay(session);
    return { id: String(id), card, intent: session.payment_intent ?? "" };
  }

  /** A workspace with a saved card and automatic top-up of 50 USD below 10 USD. @returns the saved card and the workspace's id */
  async automatic(name: string, settings: Record<string, unknown> = {}): Promise<{ card: string; workspace: string }> {
    const workspace = await this.control.workspace(name);
    const { card } = await this.pay(name);
    await this.deliver(this.stub.event("checkout.session.completed"));
    this.control.clock.advance(1);
    const edit = { enabled: true, threshold_usd: "10", amount_usd: "50", monthly_cap_usd: "200", ...settings };
    await this.control.expect("PATCH", "/top-up-settings", { body: { workspace: name, ...edit } });
    return { card, workspace };
  }

  /** A workspace that has paid 20 USD by card. */
  async paid(name: string): Promise<{ id: string; workspace: string; intent: string }> {
    const workspace = await this.control.workspace(name);
    const { id, intent } = await this.pay(name);
    await this.deliver(this.stub.event("payment_intent.succeeded"));
    return { id, workspace, intent };
  }

  /** Charges usage outside of metering, so that the balance is this. */
  async leave(workspace: string, usd: number): Promise<void> {
    const nano = BigInt(Math.round(usd * 100)) * 10_000_000n;
    await this.#sql`
      WITH head AS (
        UPDATE credit_accounts SET sequence = sequence + 1, balance_nano = ${nano} WHERE workspace_id = ${workspace}
        RETURNING sequence, (SELECT balance_nano FROM credit_accounts WHERE workspace_id = ${workspace}) AS before
      )
      INSERT INTO ledger_entries (workspace_id, sequence, kind, amount_nano, balance_after_nano, charges)
      SELECT ${workspace}, sequence, 'charge', ${nano}::bigint - before, ${nano}, 1 FROM head`;
  }

  /** A round of the worker. */
  check(): Promise<void> {
    return topUpWhereDue(this.parts);
  }

  /** A round of the sweeper, over all that is unfinished. */
  sweep(): Promise<void> {
    return sweepTopUps(0, this.parts);
  }

  async balance(workspace: string): Promise<string> {
    return String((await this.control.expect("GET", `/workspaces/${workspace}`))["balance_usd"]);
  }

  async topUps(workspace: string): Promise<Record<string, unknown>[]> {
    return this.control.list(`/top-ups?workspace=${workspace}`);
  }

  async settings(workspace: string): Promise<Record<string, unknown>> {
    return this.control.expect("GET", `/top-up-settings?workspace=${workspace}`);
  }

  /** The subjects of the mails to an address. */
  async mailsTo(recipient: string): Promise<string[]> {
    const rows = await this.#sql<{ subject: string }[]>`SELECT subject FROM mails WHERE recipient = ${recipient} ORDER BY id`;
    return rows.map(({ subject }) => subject);
  }

  /** The first invariant of the ledger that is broken; charges of `leave` have no generations. */
  async broken(): Promise<string | null> {
    const { broken } = await verifyLedger({ sql: this.#sql });
    return broken?.invariant ?? null;
  }
}

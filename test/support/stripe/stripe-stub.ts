/**
 * Stripe's API as far as top-ups use it: a server of its own, with state. It refuses every field that Stripe has not published, keeps
 * idempotency keys as Stripe does, and signs its events, which a test delivers as often, as late and in whichever order it likes.
 */
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { StripeConfig } from "../../../src/process/environment/services.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { StubAccount } from "./stub-account.ts";
import { operations } from "./stub-operations.ts";
import { invalid, StubError } from "./stub-error.ts";
import { unknownField } from "./stub-form.ts";

export interface StubEvent {
  id: string;
  type: string;
  livemode: boolean;
  data: { object: Record<string, unknown> & { id: string } };
}

/** What happens to the answer of a call that was carried out. */
type Fault =
  /** It is lost on the way; a repetition gets it. */
  | "lost"
  /** It is an error of the server, which repetitions get too. */
  | "error"
  /** It never comes. */
  | "hangs";

interface Kept {
  fingerprint: string;
  /** null: under way. */
  answer: { status: number; body: unknown } | null;
}

export const webhookSecret = "whsec_of_the_tests";

type Answer = { status: number; body: unknown } | "lost" | "hangs";

export class StripeStub implements Disposable {
  readonly account = new StubAccount();
  readonly events: StubEvent[] = [];
  /** Such as `POST /v1/payment_intents`, in order. */
  readonly calls: string[] = [];
  /** Faults of coming calls that create something, by operation; the first one is next. */
  readonly faults = new Map<string, Fault[]>();
  /** Called when a call was carried out, before its answer. */
  onCarriedOut: (operation: string) => void = () => {};
  readonly #keys = new Map<string, Kept>();
  readonly #server: Server;

  constructor() {
    this.account.onEvent = (type, object) =>
      void this.events.push({ id: this.account.id("evt"), type, livemode: false, data: { object } });
    this.#server = createServer((request, response) => {
      void this.#answer(request).then((answer) => {
        if (answer === "lost") request.socket.destroy();
        if (typeof answer === "string") return;
        response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
      });
    });
    this.#server.listen(0, "127.0.0.1");
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The variables of a service that calls it. */
  get environment(): Record<string, string> {
    return { STRIPE_SECRET_KEY: "sk_test_of_the_tests", STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_URL: this.url };
  }

  get config(): StripeConfig {
    return {
      secretKey: new Secret("sk_test_of_the_tests"),
      webhookSecrets: [new Secret(webhookSecret)],
      apiUrl: { host: "127.0.0.1", port: String(this.port) },
      isLive: false,
    };
  }

  [Symbol.dispose](): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** The last event of a type. */
  event(type: string): StubEvent {
    const event = this.events.findLast((one) => one.type === type);
    if (!event) throw new Error(`There was no event ${type}: ${this.events.map((one) => one.type).join(", ")}`);
    return event;
  }

  /** An event that no call caused, such as a dispute. */
  emit(type: string, object: Record<string, unknown> & { id: string }): StubEvent {
    this.account.onEvent(type, object);
    return this.event(type);
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const { method = "", headers } = request;
    const { pathname, searchParams } = new URL(request.url ?? "", "http://stub");
    const form = method === "POST" ? new URLSearchParams(await text(request)) : searchParams;
    const { operation, id, run } = operationOf(method, pathname);
    this.calls.push(operation);
    const key = headers["idempotency-key"];
    try {
      if (!headers.authorization?.startsWith("Bearer sk_test_")) throw new StubError(401, { type: "invalid_request_error" });
      if (!/^20\d\d-\d\d-\d\d\.\w+$/.test(String(headers["stripe-version"]))) throw invalid("version_missing");
      const unknown = method === "POST" ? unknownField(operation, form) : null;
      if (unknown !== null) throw invalid("parameter_unknown", unknown);
      const work = () => run({ id, form, account: this.account });
      if (method !== "POST" || typeof key !== "string") return { status: 200, body: work() };
      return await this.#once({ key, fingerprint: `${pathname} ${form.toString()}`, operation, work });
    } catch (error) {
      if (error instanceof StubError) return { status: error.status, body: error.body };
      throw error;
    }
  }

  /** https://docs.stripe.com/api/idempotent_requests: nothing is kept of a call that was not begun. */
  async #once({
    key,
    fingerprint,
    operation,
    work,
  }: {
    key: string;
    fingerprint: string;
    operation: string;
    work: () => unknown;
  }): Promise<Answer> {
    const before = this.#keys.get(key);
    if (before?.answer === null) throw new StubError(409, { type: "idempotency_error", code: "idempotency_key_in_use" });
    if (before && before.fingerprint !== fingerprint) throw new StubError(400, { type: "idempotency_error" });
    if (before?.answer) return before.answer;
    const kept: Kept = { fingerprint, answer: null };
    this.#keys.set(key, kept);
    // A call takes a moment, in which others with its key are refused.
    await Bun.sleep(2);
    const carriedOut = outcomeOf(work);
    if (carriedOut.begun) kept.answer = carriedOut;
    else this.#keys.delete(key);
    const fault = this.faults.get(operation)?.shift();
    if (fault === "error") kept.answer = { status: 500, body: { error: { type: "api_error" } } };
    this.onCarriedOut(operation);
    if (fault === "hangs" || fault === "lost") return fault;
    return kept.answer ?? carriedOut;
  }
}

function outcomeOf(work: () => unknown): { status: number; body: unknown; begun: boolean } {
  try {
    return { status: 200, body: work(), begun: true };
  } catch (error) {
    if (error instanceof StubError) return { status: error.status, body: error.body, begun: error.status === 402 };
    throw error;
  }
}

function operationOf(method: string, path: string) {
  for (const { method: of, pattern, run } of operations) {
    const match = of === method ? pattern.exec(path) : null;
    if (match) return { operation: `${method} ${path.replace(match[1] ?? "\0", ":id")}`, id: match[1] ?? "", run };
  }
  throw new Error(`The stub has no ${method} ${path}`);
}

/** The request of an event, as Stripe sends it. */
export function delivery(
  event: StubEvent,
  { url = "http://localhost", secret = webhookSecret, atMs = Date.now() }: { url?: string; secret?: string; atMs?: number } = {},
): Request {
  const body = JSON.stringify(event);
  const time = Math.floor(atMs / 1000);
  const signature = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "stripe-signature": `t=${time},v1=${signature},v0=ignored`,
  };
  return new Request(`${url}/api/stripe-webhook`, { method: "POST", headers, body });
}

/**
 * Every error class of the API with the official package and its two retries: the package's error class, the number of its requests,
 * and the number of provider calls.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { errorResponse, errorTable, GatewayError, type ErrorCode } from "../../src/kernel/errors.ts";
import { expectExactBalance, expectSoundLedger } from "../support/gateway/exact-ledger.ts";
import type { Customer, Operator } from "../support/operator.ts";
import { hang } from "../support/providers/stub-answers.ts";
import { until } from "../support/until.ts";
import { countingFetch, type Attempt } from "./counting-fetch.ts";
import { modelOf, modes, playable, stage, type Mode, type Stage } from "./stage.ts";
import { thrownBy } from "./thrown-by.ts";
import { first, upstreams, type Upstream } from "./upstreams.ts";

/** The default credit of a customer, in USD. */
const credit = "10";

interface Treatment {
  thrown: new (...given: never[]) => unknown;
  /** The number of requests: one, or one and two retries. */
  requests: 1 | 3;
}

const {
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
} = OpenAI;
const treatments: Record<ErrorCode, Treatment> = {
  invalid_request: { thrown: BadRequestError, requests: 1 },
  unsupported_parameter: { thrown: BadRequestError, requests: 1 },
  upstream_rejected: { thrown: BadRequestError, requests: 1 },
  invalid_api_key: { thrown: AuthenticationError, requests: 1 },
  insufficient_credit: { thrown: APIError, requests: 1 },
  key_spend_limit_exceeded: { thrown: APIError, requests: 1 },
  account_spend_limit_exceeded: { thrown: APIError, requests: 1 },
  gateway_disabled: { thrown: PermissionDeniedError, requests: 1 },
  model_not_found: { thrown: NotFoundError, requests: 1 },
  idempotency_in_progress: { thrown: ConflictError, requests: 3 },
  idempotency_spent: { thrown: ConflictError, requests: 1 },
  request_too_large: { thrown: APIError, requests: 1 },
  idempotency_mismatch: { thrown: UnprocessableEntityError, requests: 1 },
  rate_limited: { thrown: RateLimitError, requests: 3 },
  upstream_rate_limited: { thrown: RateLimitError, requests: 3 },
  internal_error: { thrown: InternalServerError, requests: 3 },
  upstream_error: { thrown: InternalServerError, requests: 3 },
  upstream_auth: { thrown: InternalServerError, requests: 1 },
  model_unavailable: { thrown: InternalServerError, requests: 1 },
  auth_unavailable: { thrown: InternalServerError, requests: 3 },
  billing_unavailable: { thrown: InternalServerError, requests: 3 },
  upstream_timeout: { thrown: InternalServerError, requests: 3 },
};

interface Given {
  baseURL: string;
  apiKey: string;
  model: string;
  content?: string;
  fields?: { temperature?: number; n?: number; stream?: boolean };
}

async function expectTreatment(
  code: ErrorCode,
  { baseURL, apiKey, model, content = "Hello", fields }: Given,
): Promise<{ attempts: Attempt[]; message: string }> {
  const { fetch, attempts } = countingFetch();
  const client = new OpenAI({ apiKey, baseURL, fetch });
  const messages = [{ role: "user" as const, content }];
  const error = await thrownBy(client.chat.completions.create({ model, messages, ...fields }));
  expect(error).toBeInstanceOf(treatments[code].thrown);
  expect(error).toMatchObject({ status: errorTable[code].status, code, type: errorTable[code].type });
  expect(attempts).toHaveLength(treatments[code].requests);
  expect(new Set(attempts.map(({ status }) => status))).toEqual(new Set([errorTable[code].status]));
  return { attempts, message: error.message };
}

describe("each error of the table", () => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => errorResponse(new GatewayError(new URL(request.url).pathname.split("/")[1] as ErrorCode)),
  });
  afterAll(() => server.stop(true));

  test.each(Object.keys(treatments) as ErrorCode[])("the package retries %s only where a retry can help", async (code) => {
    await expectTreatment(code, { baseURL: `http://127.0.0.1:${server.port}/${code}`, apiKey: "any", model: "any" });
  });
});

for (const mode of modes) {
  describe.skipIf(!playable(mode))(mode, () => {
    describe("a request that is refused reaches no provider", () => refusals(mode));
    for (const upstream of upstreams) describe(`a provider that speaks ${upstream.name}`, () => failures(mode, upstream));
    if (mode === "distributed") describe("with all admission workers frozen", () => outage(mode));
    test("the ledger is sound after all of these requests", async () => expectSoundLedger((await stage(mode)).fleet.operator()));
  });
}

type CustomerPlan = Parameters<Operator["customer"]>[0];

interface RefusalCase {
  code: ErrorCode;
  /** A part of the error message. */
  says: string;
  plan?: Partial<CustomerPlan>;
  given?: Partial<Given>;
  /** The workspace's settings. */
  settings?: Record<string, boolean>;
}

/** Prices with one cent of input, and output in addition. */
const aboveACent = "x".repeat(10_000);

const refusalCases: RefusalCase[] = [
  { code: "invalid_request", says: "temperature must be a number from 0 to 2", given: { fields: { temperature: 3 } } },
  { code: "unsupported_parameter", says: "only n=1 is supported", given: { fields: { n: 2 } } },
  {
    code: "invalid_api_key",
    says: "is invalid, revoked or expired. Keys start with platform-api- and are sent as a Bearer token",
    given: { apiKey: `platform-api-${"0".repeat(64)}` },
  },
  { code: "gateway_disabled", says: "The inference API is not enabled for this account", settings: { enabled: false } },
  { code: "request_too_large", says: "larger than 8 MiB", given: { content: "x".repeat(8 * 1024 * 1024) } },
  { code: "model_not_found", says: "no model with the id acme/none", given: { model: "acme/none" } },
  { code: "model_unavailable", says: "it is coming soon", given: { model: "openai/later" } },
  { code: "model_unavailable", says: "the workspace requires zero data retention", settings: { zero_data_retention: true } },
  { code: "insufficient_credit", says: "add credit or lower max_tokens", plan: { credit: "0.001" } },
  {
    code: "key_spend_limit_exceeded",
    says: "this key's monthly spend limit",
    plan: { keyLimit: "0.01" },
    given: { content: aboveACent },
  },
  {
    code: "account_spend_limit_exceeded",
    says: "the workspace's monthly spend limit",
    plan: { spendLimit: "0.01" },
    given: { content: aboveACent },
  },
];

function refusals(mode: Mode): void {
  let on: Stage;
  let operator: Operator;

  beforeAll(async () => {
    on = await stage(mode);
    operator = on.fleet.operator();
  }, 90_000);

  function givenOf({ keys }: Customer): Given {
    return { baseURL: `${on.fleet.url()}/gpt/v1`, apiKey: keys[0]?.key ?? "", model: "openai/model" };
  }

  test.each(refusalCases)("$code: $says", async ({ code, says, plan = {}, given, settings }) => {
    const customer = await operator.customer({ credit, ...plan });
    if (settings) await operator.call("PATCH", `/workspaces/${customer.workspace}`, settings);
    const calls = callsOfAll(on);
    const { attempts, message } = await expectTreatment(code, { ...givenOf(customer), ...given });
    expect(message).toContain(says);
    for (const { headers } of attempts) expect(headers.has("x-request-id") || headers.has("x-generation-id")).toBe(false);
    expect(callsOfAll(on)).toBe(calls);
    await expectExactBalance(operator, customer, { credit: plan.credit ?? credit, generations: 0 });
  });

  test("rate_limited, with a Retry-After that the package honours", async () => {
    const customer = await operator.customer({ credit, requestsPerMinute: 1 });
    const messages = [{ role: "user" as const, content: "First" }];
    await new OpenAI(givenOf(customer)).chat.completions.create({ model: "sandbox/echo", messages });
    const { attempts, message } = await expectTreatment("rate_limited", givenOf(customer));
    expect(message).toContain("it may make 1 requests per minute");
    for (const { headers } of attempts) {
      expect(Number(headers.get("retry-after-ms"))).toBeWithin(1, 60_000);
      expect(Number(headers.get("retry-after"))).toBeWithin(1, 61);
    }
    await expectExactBalance(operator, customer, { credit, generations: 1 });
  });
}

/** Failures of a provider. With one route, the gateway itself retries only `upstream_error`. */
const callsPerRequest = {
  upstream_error: 2,
  upstream_rate_limited: 1,
  upstream_auth: 1,
  upstream_rejected: 1,
  upstream_timeout: 1,
};
type UpstreamCode = keyof typeof callsPerRequest;

/** Where the package or the gateway waits, all formats and modes wait at the same time. */
const slow = ["upstream_error", "upstream_rate_limited", "upstream_timeout"] as const;
const soon = ["upstream_auth", "upstream_rejected"] as const;

function failures(mode: Mode, upstream: Upstream): void {
  let on: Stage;
  beforeAll(async () => void (on = await stage(mode)), 90_000);

  test.each(soon)("%s is not charged", (code) => expectFailure(on, upstream, code));

  test("a retry is a new request with its own ids, and is charged when it is answered", async () => {
    const customer = await on.fleet.operator().customer({ credit });
    const failing = first(upstream.errors, ({ code }) => code === "upstream_rate_limited");
    const good = first(upstream.whole, ({ expected }) => expected?.usage != null);
    on.stub(upstream.name).answerOnce(failing.answer, good.answer);
    const { fetch, attempts } = countingFetch();
    const client = on.client(customer.keys[0]?.key ?? "", { fetch, maxRetries: 2 });
    await client.chat.completions.create({ model: modelOf(upstream.name), messages: [{ role: "user", content: "Hello" }] });
    expect(attempts.map(({ status }) => status)).toEqual([429, 200]);
    const [answered, failed] = await expectExactBalance(on.fleet.operator(), customer, { credit, generations: 2 });
    expect(failed).toMatchObject({ cost_usd: "0.000000000", request_id: attempts[0]?.headers.get("x-request-id") });
    expect(answered).toMatchObject({ code: null, request_id: attempts[1]?.headers.get("x-request-id") });
    expect(Number(answered?.cost_usd)).toBeGreaterThan(0);
    expect(new Set([answered, failed].flatMap((row) => [row?.request_id, row?.generation_id])).size).toBe(4);
  });
}

test.each(slow)(
  "%s is not charged, for every format in both modes",
  async (code) => {
    const played = await Promise.all(modes.filter(playable).map(stage));
    await Promise.all(played.flatMap((on) => upstreams.map((upstream) => expectFailure(on, upstream, code))));
    for (const { fleet } of played) await expectSoundLedger(fleet.operator());
  },
  60_000,
);

async function expectFailure(on: Stage, { name: format, whole, errors }: Upstream, code: UpstreamCode): Promise<void> {
  const stub = on.stub(format);
  const customer = await on.fleet.operator().customer({ credit });
  stub.answer(code === "upstream_timeout" ? hang : first(errors, (one) => one.code === code).answer);
  const before = stub.calls.length;
  const { requests } = treatments[code];
  const apiKey = customer.keys[0]?.key ?? "";
  // A stream has less time to begin than a whole answer has to come.
  const given = { apiKey, model: modelOf(format), fields: { stream: code === "upstream_timeout" } };
  const { attempts } = await expectTreatment(code, { baseURL: `${on.fleet.url()}/gpt/v1`, ...given });
  stub.answer(first(whole, ({ expected }) => expected !== null).answer);
  expect(stub.calls).toHaveLength(before + requests * callsPerRequest[code]);
  const generations = new Set(attempts.map(({ headers }) => headers.get("x-generation-id") ?? ""));
  expect(generations.size).toBe(requests);
  if (code === "upstream_rate_limited") expect(attempts[0]?.headers.get("retry-after-ms")).toBe("5000");
  const rows = await expectExactBalance(on.fleet.operator(), customer, { credit, generations: requests, costNano: 0n });
  expect(new Set(rows.map((row) => row.generation_id))).toEqual(generations);
  expect(rows.every((row) => row.code === code)).toBe(true);
}

function outage(mode: Mode): void {
  let on: Stage;
  let known: Customer;
  let unknown: Customer;

  beforeAll(async () => {
    on = await stage(mode);
    known = await on.fleet.operator().customer({ credit });
    unknown = await on.fleet.operator().customer({ credit });
    // Notifications of the keys that were just created may still arrive, and clear the gateways' caches.
    const quietAt = performance.now() + 500;
    await until(async () => (await on.client(known.keys[0]?.key ?? "").models.list()) && performance.now() > quietAt);
    for (const worker of on.fleet.workers) worker.signal("SIGSTOP");
  }, 90_000);
  afterAll(() => {
    for (const worker of on.fleet.workers) worker.signal("SIGCONT");
    return on.fleet.ready();
  }, 30_000);

  test("auth_unavailable for an uncached key, billing_unavailable for a cached one", async () => {
    const calls = callsOfAll(on);
    const given = { baseURL: `${on.fleet.url()}/gpt/v1`, model: "sandbox/echo" };
    await Promise.all([
      expectTreatment("billing_unavailable", { ...given, apiKey: known.keys[0]?.key ?? "" }),
      expectTreatment("auth_unavailable", { ...given, apiKey: unknown.keys[0]?.key ?? "" }),
    ]);
    expect(callsOfAll(on)).toBe(calls);
  }, 30_000);
}

function callsOfAll(on: Stage): number {
  return upstreams.reduce((sum, { name }) => sum + on.stub(name).calls.length, 0);
}

/** The log has a row for each request that was accepted, with one of the codes that the Console offers as a filter; refused ones have none. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { filterFields, requestFiltersOf } from "../../../src/console/pages/inference/requests-page.ts";
import { endingError } from "../../../src/gateway/api/error-answer.ts";
import { answerFailure } from "../../../src/gateway/api/generate.ts";
import type { GenerationLifecycle } from "../../../src/gateway/api/lifecycle.ts";
import { expiredSettlement } from "../../../src/gateway/journal/recovery.ts";
import {
  endingCodes,
  endingErrorCodes,
  errorTable,
  GatewayError,
  refusingCodes,
  type ErrorCode,
} from "../../../src/kernel/errors.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { chat, outcomeOf } from "../../support/gateway/requests.ts";
import type { Customer } from "../../support/operator.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { until } from "../../support/until.ts";

const isEnding = (code: string): boolean => endingCodes.some((ending) => ending === code);
const refusals = Object.keys(errorTable).filter((code) => !isEnding(code)) as ErrorCode[];

test.each([
  ["", [...new Set<string>([...endingCodes, ...refusingCodes])]],
  ["ok", []],
  ["error", endingCodes],
  ["refused", refusingCodes],
] as const)("the filter of Requests of the kind %j offers the codes that they may have, and no others", (status, codes) => {
  const fields = filterFields(requestFiltersOf({ query: new URLSearchParams({ status }) }), { keys: [], role: "admin" });
  const offered = fields.find(({ name }) => name === "code")?.choices?.map(({ value }) => value) ?? [""];
  expect(offered.toSorted()).toEqual(["", ...codes].toSorted());
});

describe("an error after a request was accepted", () => {
  /** What the client and the row of the log get. */
  const endWith = async (code: ErrorCode) => {
    const rows: (string | null)[] = [];
    const lifecycle = {
      settle: async (row: { code: string | null }) => void rows.push(row.code),
    } as unknown as GenerationLifecycle;
    const error = endingError(new GatewayError(code), { log: silentLog });
    const { code: told } = await outcomeOf(answerFailure({ lifecycle, headers: {} }, error, null));
    return { told, rows };
  };

  test.each([...endingErrorCodes])("%s stands in its row, and the client gets the same", async (code) => {
    expect(await endWith(code)).toEqual({ told: code, rows: [code] });
  });

  test.each(refusals)("%s would come too late: it is our mistake, and no row has it", async (code) => {
    expect(await endWith(code)).toEqual({ told: "internal_error", rows: ["internal_error"] });
  });
});

test("a generation whose gateway died stands there with a code that is offered", () => {
  const hold = { generation: "gen-a", key: "key-a", month: "2026-11", admittedAt: 1, deadline: 2, amount: 3n };
  expect(isEnding(String(expiredSettlement("ws-a", hold as Parameters<typeof expiredSettlement>[1]).code))).toBe(true);
});

describe("one process", () => {
  const stack = new AsyncDisposableStack();
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = stack.use(await Fleet.start({ services: null, inTest: true, environment: { FIRST_BYTE_TIMEOUT_MS: "300" } }));
  }, 60_000);
  afterAll(() => stack.disposeAsync());

  const saying = (content: string, body: Record<string, unknown> = {}) => ({
    model: "sandbox/echo",
    messages: [{ role: "user", content }],
    ...body,
  });
  const send = ({ keys }: Customer, body: Record<string, unknown>) => chat({ url: fleet.url(), key: keys[0]?.key ?? "", body });
  const logOf = ({ workspace }: Customer) => fleet.operator().log(`workspace=${workspace}`);
  const codesOf = async (customer: Customer) => (await logOf(customer)).map(({ code }) => code);

  test.each([
    ["status=400", "upstream_rejected"],
    ["status=401", "upstream_auth"],
    ["status=429", "upstream_rate_limited"],
    ["status=500", "upstream_error"],
    ["silent", "upstream_timeout"],
  ])("a request that ends by %s stands in the log as %s, with the message of its answer", async (command, code) => {
    const customer = await fleet.operator().customer({ credit: "1" });
    const answer = await send(customer, saying(`sandbox: ${command}`, { stream: true }));
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe(code);
    await until(async () => (await codesOf(customer)).length === 1);
    expect(await logOf(customer)).toMatchObject([{ code, message: error.message }]);
    expect(isEnding(code)).toBe(true);
  });

  test("a client that left stands there as client_gone", async () => {
    const customer = await fleet.operator().customer({ credit: "1" });
    const leaving = new AbortController();
    const body = saying("sandbox: tokens=1000 gap_ms=100", { stream: true });
    const response = await chat({ url: fleet.url(), key: customer.keys[0]?.key ?? "", body, signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    await until(async () => (await codesOf(customer)).length === 1);
    expect([await codesOf(customer), isEnding("client_gone")]).toEqual([["client_gone"], true]);
  });

  test("refused requests do not stand in the log, and an accepted one after them does", async () => {
    const customer = await fleet.operator().customer({ credit: "0.02", requestsPerMinute: 1 });
    const refused = [
      saying("Hello", { temperature: 3 }),
      saying("Hello", { model: "nobody/nothing" }),
      saying("Hello", { model: "weir/zero" }),
      saying("x".repeat(100_000)),
    ];
    const told = [];
    for (const body of refused) told.push((await outcomeOf(send(customer, body))).code);
    const { status } = await outcomeOf(send(customer, saying("Hello")));
    told.push((await outcomeOf(send(customer, saying("Hello")))).code);
    expect([told, status]).toEqual([
      ["invalid_request", "model_not_found", "model_unavailable", "insufficient_credit", "rate_limited"],
      200,
    ]);
    await until(async () => (await codesOf(customer)).length > 0);
    expect(await codesOf(customer)).toEqual([null]);
  });
});

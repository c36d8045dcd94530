/** `weir model check` in a fleet: a gateway takes the call, the prober runs the checks, and every gateway gets the result. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { run } from "../../scripts/weir/run.ts";
import { type Fleet, operatorToken } from "../support/servers/fleet.ts";
import type { ProviderStub } from "../support/providers/provider-stub.ts";
import { chat, outcomeOf } from "../support/gateway/requests.ts";
import { testServices } from "../support/servers/services.ts";
import { chat as answers, error } from "../support/providers/stub-answers.ts";
import { until } from "../support/until.ts";
import { sharedFleet } from "./shared-fleet.ts";

const services = await testServices();

describe.skipIf(services === null)("model check in a fleet", () => {
  const stack = new AsyncDisposableStack();
  let stub: ProviderStub;
  let fleet: Fleet;
  let key: string;

  beforeAll(async () => {
    ({ fleet, stub } = await sharedFleet());
    stack.use(await fleet.probing());
    key = (await fleet.operator().customer({ credit: "1" })).keys[0]?.key ?? "";
  }, 60_000);
  afterAll(() => stack.disposeAsync(), 30_000);

  async function check(...words: string[]): Promise<{ code: number; data: unknown; error: string }> {
    const printed = { out: "", error: "" };
    const terminal = {
      out: (text: string) => void (printed.out += text),
      error: (text: string) => void (printed.error += `${text}\n`),
    };
    const surroundings = {
      service: () => ({ url: fleet.url(), token: operatorToken }),
      files: () => ({ catalogDir: "./catalog-data" }),
    };
    const code = await run(["model", "check", ...words, "--json"], surroundings, terminal);
    return { code, data: printed.out === "" ? null : JSON.parse(printed.out).data, error: printed.error };
  }

  const ask = async (gateway: number) =>
    (await outcomeOf(chat({ url: fleet.url(gateway), key, body: { max_tokens: 10 } }))).status;

  test("the command returns when the checks have ended, prints each on stderr, and a failed model is unavailable at every gateway", async () => {
    expect([await ask(0), await ask(1)]).toEqual([200, 200]);
    stub.answer(error(401));
    const calls = stub.calls.length;
    const { error: said, ...checked } = await check();
    expect(checked).toEqual({
      code: 0,
      data: expect.arrayContaining([
        expect.objectContaining({ id: "stub/model", runnable: false, unavailable_reason: "launch_check_failed" }),
        expect.objectContaining({ id: "routed/cheap", runnable: true }),
        expect.objectContaining({ id: "sandbox/echo", runnable: true }),
      ]),
    });
    const each = ["routed/cheap by cheap: passed", "routed/dear by dear: passed", "stub/model by stub: upstream_auth"];
    expect(said.trim().split("\n").toSorted()).toEqual(each);
    expect(stub.calls.length).toBe(calls + 1);
    await until(async () => (await ask(0)) === 503 && (await ask(1)) === 503);
  });

  test("a model that passes again is available again", async () => {
    stub.answer(answers("Hello"));
    expect(await check("--id", "stub/model")).toMatchObject({
      code: 0,
      data: [{ id: "stub/model", runnable: true, unavailable_reason: null }],
      error: "stub/model by stub: passed\n",
    });
    await until(async () => (await ask(0)) === 200 && (await ask(1)) === 200);
  });

  test("a check of an unknown model is refused", async () => {
    expect(await check("--id", "nobody/nothing")).toEqual({
      code: 1,
      data: null,
      error: 'weir: There is no model with the id "nobody/nothing"\n',
    });
  });
});

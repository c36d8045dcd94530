/** Traffic of a customer with own provider keys, which only their provider may receive. */
import { expect } from "bun:test";
import { chat } from "../gateway/requests.ts";
import { chat as answer, chunk, error, stream } from "../providers/stub-answers.ts";
import type { ProviderStub } from "../providers/provider-stub.ts";
import type { Fleet } from "../servers/fleet.ts";
import { until } from "../until.ts";
import type { Traces } from "./traces.ts";

export interface OwnKeyTraffic {
  workspace: string;
  /** Keys in use, replaced, and refused before they were stored. */
  keys: string[];
  /** Everything that was answered to clients. */
  answered: string;
}

export async function spreadOwnKeys(fleet: Fleet, stub: ProviderStub): Promise<OwnKeyTraffic> {
  const operator = fleet.operator();
  const { workspace, keys: apiKeys } = await operator.customer({ credit: "10" });
  await operator.call("PATCH", `/workspaces/${workspace}`, { early_access: ["own_keys"] });
  const [first, second, refused, malformed] = ["first", "second", "refused", "malformed"].map(
    (name) => `sk-canary-${name}-${crypto.randomUUID()}`,
  ) as [string, string, string, string];
  const traffic: OwnKeyTraffic = { workspace, keys: [first, second, refused, malformed], answered: "" };
  const manage = async (method: string, path: string, body?: unknown): Promise<string> => {
    const text = await (await operator.send(`/api/console${path}`, { method, ...(body !== undefined && { body }) })).text();
    traffic.answered += text;
    return text;
  };
  const ask = async (streamed: boolean): Promise<number> => {
    const response = await chat({ url: fleet.url(), key: apiKeys[0]?.key ?? "", body: { stream: streamed } });
    traffic.answered += JSON.stringify([...response.headers]) + (await response.text());
    return response.status;
  };
  const form = { workspace, provider: "stub" };
  stub.answer(error(401, refused, `Incorrect API key provided: ${refused}`));
  await manage("POST", "/provider-keys", { ...form, key: refused });
  await manage("POST", "/provider-keys", { ...form, key: `${malformed}\n` });
  stub.answer(answer("Hello"));
  const { id } = JSON.parse(await manage("POST", "/provider-keys", { ...form, key: first })) as { id: string };
  for (const streamed of [false, true]) expect(await ask(streamed)).toBe(200);
  expect(stub.calls.at(-1)?.headers["authorization"]).toBe(`Bearer ${first}`);
  const echo = `Incorrect API key provided: ${first}`;
  for (const given of [error(401, first, echo), error(429, first, echo), error(500, first, echo), error(400, first, echo)]) {
    stub.answer(given);
    for (const streamed of [false, true]) expect(await ask(streamed)).toBeGreaterThanOrEqual(400);
  }
  stub.answer(stream([chunk({ content: "Well" }), { error: { message: echo, code: first } }]));
  await ask(true);
  await manage("POST", `/provider-keys/${id}/test`, {});
  stub.answer(answer("Hello"));
  await manage("PUT", `/provider-keys/${id}`, { key: second });
  expect(await ask(true)).toBe(200);
  for (const path of ["/provider-keys", "/audit", "/log"]) await manage("GET", `${path}?workspace=${workspace}`);
  await until(async () => (await operator.show(workspace)).reserved_usd === "0.000000000");
  return traffic;
}

/** No table, file, message, log, metric or answer has a key. Sealed ones are stored and sent. */
export function expectNoOwnKey(traces: Traces, { workspace, keys, answered }: OwnKeyTraffic): void {
  expect(traces.whereIs(workspace)).toContain("table.own_keys");
  for (const key of keys) {
    expect([key, traces.whereIs(key)]).toEqual([key, []]);
    expect([key, answered.includes(key)]).toEqual([key, false]);
  }
}

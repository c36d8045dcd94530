/** Reasoning comes back in a tool loop, byte for byte, to the account and the model that it came from. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { reasoningCharactersMax } from "../../../../src/gateway/limits.ts";
import type { Route } from "../../../../src/gateway/models/model.ts";
import { idWithReasoning, readIdWithReasoning } from "../../../../src/gateway/providers/openai-responses/answer.ts";
import { Secret } from "../../../../src/kernel/secret.ts";
import { ownKey } from "../../../support/gateway/own-keys.ts";
import { callStream, callWhole, readAll } from "../../../support/providers/call.ts";
import { aRoute } from "../../../support/providers/models.ts";
import { startProviderStub, type ProviderStub } from "../../../support/providers/provider-stub.ts";
import { response } from "../../../support/providers/responses-answers.ts";

/** In the form of the API: base64 of URLs, with padding. */
const encrypted = `${Buffer.from("\u0000encrypted?>reasonings".repeat(40)).toString("base64url")}==`;
const calls = [
  { call_id: "call_1", name: "weather", arguments: '{"city":"Oslo"}' },
  { call_id: "call_2", name: "weather", arguments: '{"city":"Rome"}' },
];

let stub: ProviderStub;
let route: Route;
beforeAll(async () => {
  stub = await startProviderStub();
  route = aRoute({ format: "openai-responses", base_url: stub.url });
});
afterAll(() => stub[Symbol.asyncDispose]());

/** The ids of the calls of an answer with reasoning before its first call. */
async function askedBy(on: Route, streamed: boolean, text = ""): Promise<string[]> {
  stub.answerOnce(response(text, { calls, encrypted }));
  if (streamed) return (await readAll(await callStream({ route: on }))).toolCalls.map(({ id }) => id);
  const made = (await callWhole({ route: on })).message["tool_calls"] as { id: string }[];
  return made.map(({ id }) => id);
}

/** The items that a route gets when the calls come back with their results. */
async function itemsOf(on: Route, ids: string[], content: string | null = null): Promise<Record<string, unknown>[]> {
  const made = ids.map((id, index) => ({
    id,
    type: "function",
    function: { name: "weather", arguments: calls[index]?.arguments ?? "" },
  }));
  const results = ids.map((id) => ({ role: "tool", tool_call_id: id, content: "7" }));
  const messages = [{ role: "user", content: "Hi" }, { role: "assistant", content, tool_calls: made }, ...results];
  stub.answerOnce(response("7"));
  await callWhole({ route: on, chat: { messages }, context: { openOwnKey: () => new Secret("sk-of-the-workspace") } });
  return stub.calls.at(-1)?.body["input"] as Record<string, unknown>[];
}

const asked = calls.map((call) => ({ type: "function_call", ...call }));
const results = calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "7" }));
const reasoning = { type: "reasoning", summary: [], encrypted_content: encrypted };

test.each([false, true])("the reasoning before a call comes back before that call (streamed: %p)", async (streamed) => {
  const ids = await askedBy(route, streamed);
  expect(ids[0]).toStartWith("call_1.sig.stub_stub-model.");
  expect(ids[1]).toBe("call_2");
  expect((await itemsOf(route, ids)).slice(1)).toEqual([reasoning, ...asked, ...results]);
});

test("the reasoning comes back before the text that the model wrote between it and its call", async () => {
  const ids = await askedBy(route, true, "Let me look.");
  const said = { role: "assistant", content: "Let me look.", phase: "commentary" };
  expect((await itemsOf(route, ids, "Let me look.")).slice(1)).toEqual([reasoning, said, ...asked, ...results]);
});

test("another model, another provider and another account do not get the reasoning, only the call", async () => {
  const ids = await askedBy(route, false);
  const base = { format: "openai-responses" as const, base_url: stub.url };
  const others = [
    aRoute(base, { upstream_model: "stub-model-mini" }),
    { ...route, provider: { ...route.provider, id: "other" } },
    { ...route, ownKey: ownKey() },
  ];
  for (const other of others) expect((await itemsOf(other, ids)).slice(1)).toEqual([...asked, ...results]);
});

test("reasoning returns exactly as it came, or is left out", () => {
  const anything = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString("base64url")),
    fc.base64String({ maxLength: 200 }),
    fc.constantFrom(encrypted, "", "gAAAA", "a=", "====", null, undefined, 7, {}),
  );
  fc.assert(
    fc.property(anything, fc.string({ minLength: 1, maxLength: 20 }), (given, id) => {
      const text = idWithReasoning(id, given, "stub_m");
      const read = readIdWithReasoning(text, "stub_m");
      if (text !== id) expect(read).toEqual({ id, encrypted: String(given) });
    }),
  );
  expect(idWithReasoning("call_1", encrypted, "stub_m")).not.toBe("call_1");
});

test("reasoning that is too long for an id, and that of no known route, is left out", () => {
  const long = "gAAA".repeat(reasoningCharactersMax / 4);
  expect(readIdWithReasoning(idWithReasoning("call_1", long, "m"), "m").encrypted).toBe(long);
  expect(idWithReasoning("call_1", `${long}gAAA`, "m")).toBe("call_1");
  expect(idWithReasoning("call_1", encrypted, null)).toBe("call_1");
});

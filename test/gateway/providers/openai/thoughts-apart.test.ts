/** A model that wants its reasoning back gets it from clients of any API, and no other model gets it. */
import { expect, test } from "bun:test";
import { apart, type ChatMessage } from "../../../../src/gateway/providers/provider.ts";
import { openai } from "../../../../src/gateway/providers/registry.ts";
import { signerOf } from "../../../../src/gateway/providers/wire/answers.ts";
import { testGeneration } from "../../../support/providers/call.ts";
import { aRoute } from "../../../support/providers/models.ts";

const fact = <Value extends string>(value: Value) => ({ value, source: "https://example.test", seen: "2026-11-28" });
const routeWith = (form?: "required" | "as_reasoning" | "never") =>
  aRoute(form === undefined ? {} : { dialect: { reasoning_content: fact(form) } });
const route = routeWith();

function answered(...signers: string[]): ChatMessage {
  const thoughts = signers.map((signer, index) => ({ signer, text: `thought ${index}`, seal: "", callsBefore: 0 }));
  return { role: "assistant", content: "b", [apart]: { thoughts } };
}

function sent(message: ChatMessage, { to = route, withoutThoughts = false } = {}): Record<string, unknown> {
  const messages = [{ role: "user", content: "a" }, message, { role: "user", content: "c" }];
  const chat = { model: "stub/model", messages };
  const call = { generation: testGeneration, route: to, chat, maxOutputTokens: 9, streamed: false, withoutThoughts };
  return (JSON.parse(openai.encode(call).body) as { messages: Record<string, unknown>[] }).messages[1] ?? {};
}

test("the model gets its own thoughts as its reasoning", () => {
  const own = signerOf(route);
  expect(sent(answered(own))).toEqual({ role: "assistant", content: "b", reasoning_content: "thought 0" });
  expect(sent(answered(own, "B", own))).toMatchObject({ reasoning_content: "thought 0\n\nthought 2" });
});

test("in the form that its provider takes", () => {
  const to = routeWith("as_reasoning");
  expect(sent(answered(signerOf(to)), { to })).toEqual({ role: "assistant", content: "b", reasoning: "thought 0" });
  const never = routeWith("never");
  expect(sent(answered(signerOf(never)), { to: never })).toEqual({ role: "assistant", content: "b" });
});

test("another's thoughts, and any in the attempt without them, are left out", () => {
  expect(sent(answered("B"))).toEqual({ role: "assistant", content: "b" });
  expect(sent(answered(signerOf(route)), { withoutThoughts: true })).toEqual({ role: "assistant", content: "b" });
});

test("what it adds is held", () => {
  const messages = [answered("A", "B")];
  expect(openai.addedBytes?.({ model: "m", messages })).toBeGreaterThanOrEqual("thought 0\n\nthought 1".length);
});

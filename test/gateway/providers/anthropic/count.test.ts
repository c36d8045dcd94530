/** The provider's own count of a prompt: the request, and the result of each kind of answer. No reservation is needed. */
import { describe, expect, test } from "bun:test";
import { tokenCountMsMax } from "../../../../src/gateway/limits.ts";
import type { ModelEntry } from "../../../../src/gateway/models/schema.ts";
import { promptCounts } from "../../../../src/gateway/providers/http.ts";
import { ManualClock } from "../../../support/clock.ts";
import { aContext, testKey } from "../../../support/providers/call.ts";
import { aRoute } from "../../../support/providers/models.ts";
import { startProviderStub, type ProviderStub } from "../../../support/providers/provider-stub.ts";
import { empty, hang, htmlPage, json, redirect, type StubAnswer } from "../../../support/providers/stub-answers.ts";

const chat = {
  model: "stub/model",
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Hello" },
  ],
  tools: [{ type: "function", function: { name: "go", parameters: { type: "object" } } }],
  reasoning_effort: "medium",
  stop: ["END"],
  cache_control: { type: "ephemeral" },
};

function counting(stub: ProviderStub, entry: Partial<ModelEntry> = {}, format: "anthropic" | "openai" = "anthropic") {
  return promptCounts(aContext())({ chat, route: aRoute({ format, base_url: stub.url }, entry) });
}

test("what is counted is the prompt of a request for an answer, without what bounds the answer alone", async () => {
  await using stub = await startProviderStub(json({ input_tokens: 14 }));
  expect(await counting(stub, { thinking: "budget" })).toBe(14);
  const { path, headers, body } = await stub.called();
  expect(path).toBe("/v1/messages/count_tokens");
  expect(headers).toMatchObject({ "x-api-key": testKey, "anthropic-version": "2023-06-01" });
  expect(body).toEqual({
    model: "stub-model",
    system: "Be brief.",
    tools: [{ name: "go", input_schema: { type: "object" } }],
    messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    thinking: { type: "enabled", budget_tokens: 8_192 },
    cache_control: { type: "ephemeral" },
  });
});

describe("there is no count", () => {
  const answers: [string, StubAnswer][] = [
    ["a server without the endpoint", json({ error: { type: "not_found_error", message: "No" } }, 404)],
    ["too many counts", json({ type: "error", error: { type: "rate_limit_error", message: "No" } }, 429)],
    ["a failure", json({}, 500)],
    ["another body", json({ tokens: 4 })],
    ["a negative count", json({ input_tokens: -1 })],
    ["a text for a count", json({ input_tokens: "14" })],
    ["a list", json([])],
    ["nothing", empty],
    ["a page", htmlPage],
    ["a redirect", redirect("http://127.0.0.1:9/v1/messages/count_tokens")],
    ["a body without an end", (response) => void response.socket?.destroy()],
  ];

  test.each(answers)("%s", async (_, answer) => {
    await using stub = await startProviderStub(answer);
    expect(await counting(stub)).toBeNull();
  });

  test("a provider that is not there, and a key that is missing", async () => {
    const gone = await startProviderStub();
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    const route = aRoute({ format: "anthropic", base_url: url });
    expect(await promptCounts(aContext())({ chat, route })).toBeNull();
    expect(await promptCounts(aContext({ providerKey: () => null }))({ chat, route })).toBeNull();
  });

  test("a format that has none is not asked", async () => {
    await using stub = await startProviderStub(json({ input_tokens: 14 }));
    expect(await counting(stub, {}, "openai")).toBeNull();
    expect(stub.calls).toEqual([]);
  });

  test("one that comes too late", async () => {
    await using stub = await startProviderStub(hang);
    const clock = new ManualClock();
    const late = promptCounts(aContext({ clock }))({ chat, route: aRoute({ format: "anthropic", base_url: stub.url }) });
    await stub.called();
    clock.advance(tokenCountMsMax);
    expect(await late).toBeNull();
    expect((await stub.ended()).state).toBe("cancelled");
  });
});

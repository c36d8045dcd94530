/** A model of a provider may speak another wire format than the provider's other models, with the same key. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openaiResponsesAndChat } from "../../support/providers/responses-answers.ts";
import { callStream, callWhole, readAll, testKey } from "../../support/providers/call.ts";
import { aModel, aRoute } from "../../support/providers/models.ts";
import { startProviderStub, type ProviderStub } from "../../support/providers/provider-stub.ts";

describe("the wire format of a route", () => {
  test("is the provider's, unless the entry or its route has its own", () => {
    const formats = (entry: Parameters<typeof aModel>[0]) => aModel(entry).routes.map(({ format }) => format);
    const routes = [
      { provider: "stub", upstream_model: "m" },
      { provider: "b", upstream_model: "m", format: "anthropic" as const },
    ];
    expect(formats({})).toEqual(["openai"]);
    expect(formats({ format: "openai-responses" })).toEqual(["openai-responses"]);
    expect(formats({ routes })).toEqual(["openai", "anthropic"]);
    expect(formats({ routes, format: "openai-responses" })).toEqual(["openai-responses", "anthropic"]);
  });

  test("is part of what a launch check was a check of; a format that the provider has anyway changes nothing", () => {
    const plain = aRoute();
    expect(aRoute({}, { format: "openai" }).entry).toBe(plain.entry);
    expect(aRoute({}, { format: "openai-responses" }).entry).not.toBe(plain.entry);
    expect(aRoute({}, { format: "openai-responses" }).entry).toBe(aRoute({ format: "openai-responses" }).entry);
  });

  test("is not the sandbox's for another provider, nor another for the sandbox, nor of embeddings", () => {
    expect(() => aModel({ format: "sandbox" })).toThrow('"sandbox" is not spoken by "stub"');
    expect(() => aModel({ format: "openai" }, { format: "sandbox" })).toThrow('"openai" is not spoken by "stub"');
    const embeddings = { kind: "embeddings" as const, dimensions: { default: 8 }, max_inputs: 1, max_output_tokens: null };
    const entry = { ...embeddings, supports: [], prices_per_1m_usd: { input: "1", output: "0" } };
    expect(() => aModel({ ...entry, format: "openai-responses" })).toThrow("is of chat completions");
    expect(aModel(entry).routes[0]?.format).toBe("openai");
  });
});

describe("two models of one provider", () => {
  let stub: ProviderStub;
  beforeAll(async () => {
    stub = await startProviderStub(openaiResponsesAndChat("Hello there"));
  });
  afterAll(() => stub[Symbol.asyncDispose]());

  test.each([
    [undefined, "/v1/chat/completions"],
    ["openai-responses" as const, "/v1/responses"],
  ])("are called in their formats, with the same key (format: %p)", async (format, path) => {
    const route = aRoute({ base_url: stub.url }, format === undefined ? {} : { format });
    expect(await callWhole({ route })).toMatchObject({ message: { content: "Hello there" }, finishReason: "stop" });
    expect(await readAll(await callStream({ route }))).toMatchObject({ text: "Hello there", failure: null, last: "end" });
    for (const call of stub.calls.slice(-2)) {
      expect(call).toMatchObject({ path, headers: { authorization: `Bearer ${testKey}` } });
    }
  });
});

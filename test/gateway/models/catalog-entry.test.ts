import { describe, expect, test, afterAll, beforeAll } from "bun:test";
import { modelFrom, EntryError } from "../../../src/gateway/models/catalog-entry.ts";
import type { ModelEntry, ProviderEntry } from "../../../src/gateway/models/schema.ts";
import type { EmbeddingAnswer } from "../../../src/gateway/providers/embedding.ts";
import { embeddingsLaunchCheck } from "../../../src/gateway/providers/launch-check.ts";
import { UpstreamFailure } from "../../../src/gateway/providers/provider.ts";
import { aReservation, callStream, callWhole, readAll, testKey } from "../../support/providers/call.ts";
import { embeddingModel } from "../../support/providers/embedding-answers.ts";
import { aModel, aProvider, aRoute } from "../../support/providers/models.ts";
import { startProviderStub, type ProviderStub } from "../../support/providers/provider-stub.ts";
import { openaiResponsesAndChat } from "../../support/providers/responses-answers.ts";

function faultOf(entry: ModelEntry, provider: Partial<ProviderEntry> = {}): string {
  try {
    modelFrom(entry, { fileProvider: "stub", providers: new Map([["stub", aProvider(provider)]]) });
  } catch (error) {
    if (error instanceof EntryError) return error.field;
    throw error;
  }
  return "none";
}

function without(field: keyof ModelEntry): ModelEntry {
  const { [field]: _, ...rest } = embeddingModel();
  return rest as ModelEntry;
}

describe("an embeddings model in the catalog", () => {
  test.each<[string, ModelEntry, string]>([
    ["routes", { ...embeddingModel(), routes: [{ provider: "stub", upstream_model: "m" }] }, "routes"],
    ["a bound on output", embeddingModel({ max_output_tokens: 5 }), "max_output_tokens"],
    ["an output price", embeddingModel({ prices_per_1m_usd: { input: "1", output: "0.01" } }), "prices_per_1m_usd.output"],
    ["a word of chat models", embeddingModel({ supports: ["tools"] }), "supports"],
    ["no dimensions", without("dimensions"), "dimensions"],
    ["no max_inputs", without("max_inputs"), "max_inputs"],
    [
      "a default outside of the range",
      embeddingModel({ dimensions: { default: 5, allowed: { min: 1, max: 4 } } }),
      "dimensions.default",
    ],
    ["a default that is not in the set", embeddingModel({ dimensions: { default: 5, allowed: [4, 8] } }), "dimensions.default"],
  ])("is refused with %s", (_, entry, field) => expect(faultOf(entry)).toBe(field));

  test("is refused at a provider whose format has no embeddings", () => {
    expect(faultOf(embeddingModel(), { format: "anthropic" })).toBe("provider");
    expect(faultOf(embeddingModel(), { format: "anthropic", embeddings: { format: "voyage" } })).toBe("none");
  });

  test("that is only announced may leave its facts open", () => {
    expect(faultOf({ ...without("dimensions"), listed_as: "coming_soon" })).toBe("none");
  });

  test.each(["dimensions", "max_inputs", "normalize"] as const)("alone may have %s", (field) => {
    const value = { dimensions: { default: 4 }, max_inputs: 3, normalize: true }[field];
    const { upstream_model: _, ...chat } = { ...aModelEntry(), [field]: value };
    expect(faultOf({ ...chat, upstream_model: "m" })).toBe(field);
  });

  test("has no hidden prompt unless the entry says so", () => {
    expect(aModel(embeddingModel()).routes[0]?.hiddenInputTokens).toBe(0);
    expect(aModel(embeddingModel({ hidden_input_tokens: 7 })).routes[0]?.hiddenInputTokens).toBe(7);
  });

  test("is checked again after a change of its default dimensions, and not after a change of its price", () => {
    const entry = (change: Partial<ModelEntry>) => aRoute({}, embeddingModel(change)).entry;
    expect(entry({ dimensions: { default: 8 } })).not.toBe(entry({ dimensions: { default: 4 } }));
    expect(entry({ prices_per_1m_usd: { input: "9", output: "0" } })).toBe(entry({}));
  });
});

function aModelEntry(): ModelEntry {
  const { dimensions: _, max_inputs: __, ...entry } = embeddingModel();
  return { ...entry, kind: "chat", max_output_tokens: 10, supports: [] };
}

describe("the launch check of an embeddings model", () => {
  const facts = { dimensions: 4, allowedDimensions: null, inputsMax: 1, normalize: false };
  const run = (format: "openai" | "google", answer: () => Promise<EmbeddingAnswer>) =>
    embeddingsLaunchCheck({ ticket: aReservation(), facts, route: aRoute({ embeddings: { format } }, embeddingModel()) }, answer);

  test("passes with a vector of the default length and a count", async () => {
    let asked = 0;
    const code = await embeddingsLaunchCheck(
      { ticket: aReservation(), facts, route: aRoute({}, embeddingModel()) },
      async (_, call) => {
        asked = call.dimensionsExpected;
        return { vectors: [[1, 0, 0, 0]], promptTokens: 2 };
      },
    );
    expect([code, asked]).toEqual([null, 4]);
  });

  test("fails without a count, but for a format that may leave it out", async () => {
    const uncounted = async () => ({ vectors: [[1, 0, 0, 0]], promptTokens: null });
    expect(await run("openai", uncounted)).toBe("upstream_error");
    expect(await run("google", uncounted)).toBeNull();
  });

  test("fails with the provider's failure, such as a vector of another length", async () => {
    const wrong = (): Promise<EmbeddingAnswer> => Promise.reject(new UpstreamFailure("upstream_error", "a vector of 3 numbers"));
    expect(await run("openai", wrong)).toBe("upstream_error");
  });
});

/** A model of a provider may speak another wire format than the provider's other models, with the same key. */

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

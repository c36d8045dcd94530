import { describe, expect, test } from "bun:test";
import { modelFrom, providerFrom } from "../../../../src/gateway/models/catalog-entry.ts";
import { sandboxModels, sandboxProvider } from "../../../../src/gateway/models/catalog.ts";
import { embeddingCalls } from "../../../../src/gateway/providers/embed.ts";
import type { EmbeddingCall } from "../../../../src/gateway/providers/embedding.ts";
import { aContext, aReservation, failureOf, testGeneration } from "../../../support/providers/call.ts";

const entry = sandboxModels.find(({ id }) => id === "sandbox/embed");
if (entry === undefined) throw new Error("There is no sandbox/embed");
const providers = new Map([["sandbox", providerFrom(sandboxProvider)]]);
const [route] = modelFrom(entry, { fileProvider: "sandbox", providers }).routes;

function embed(texts: string[], change: Partial<EmbeddingCall> = {}) {
  if (route === undefined) throw new Error("sandbox/embed has no route");
  return embeddingCalls(aContext())(aReservation(), {
    generation: testGeneration,
    route,
    inputs: { kind: "texts", texts },
    dimensions: null,
    inputType: null,
    dimensionsExpected: change.dimensions ?? 64,
    normalize: false,
    ...change,
  });
}

describe("sandbox/embed", () => {
  test("the same text has the same vector of length 1, another text another one", async () => {
    const { vectors, promptTokens } = await embed(["Hello", "Hello", "World"]);
    expect(vectors[0]).toEqual(vectors[1] ?? []);
    expect(vectors[0]).not.toEqual(vectors[2] ?? []);
    for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    expect(promptTokens).toBe(6);
  });

  test.each([8, 33, 64])("a vector has the %d requested numbers", async (dimensions) => {
    expect((await embed(["Hello"], { dimensions })).vectors[0]).toHaveLength(dimensions);
  });

  test("a query and a document of the same text have different vectors", async () => {
    const [query, document] = [await embed(["Hi"], { inputType: "query" }), await embed(["Hi"], { inputType: "document" })];
    expect(query.vectors).not.toEqual(document.vectors);
    expect((await embed(["Hi"])).vectors).toEqual(document.vectors);
  });

  test("token ids are counted one by one", async () => {
    expect((await embed([], { inputs: { kind: "tokens", tokens: [[1, 2], [3]] } })).promptTokens).toBe(3);
  });

  test("a text can order another count, none, or a failure, as at sandbox/echo", async () => {
    expect((await embed(["Hi", "sandbox: usage=77,0"])).promptTokens).toBe(77);
    expect((await embed(["sandbox: no_usage"])).promptTokens).toBeNull();
    expect((await failureOf(embed(["sandbox: status=429"]))).code).toBe("upstream_rate_limited");
    expect((await failureOf(embed(["sandbox: break_after=1"]))).code).toBe("upstream_error");
  });

  test("an unknown command, and one that has no meaning here, is refused", async () => {
    for (const command of ["sandbox: staus=500", "sandbox: tokens=4", "sandbox: gap_ms=5"]) {
      expect((await failureOf(embed([command]))).code).toBe("upstream_rejected");
    }
  });
});

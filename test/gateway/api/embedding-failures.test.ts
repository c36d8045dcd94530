/** What a provider of embeddings may do wrong, and what its client gets and pays. */
import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { openEmbeddingStage, type EmbeddingStage } from "../../support/gateway/embedding-stage.ts";
import { base64Of, embeddings, vectorAt } from "../../support/providers/embedding-answers.ts";
import { error } from "../../support/providers/stub-answers.ts";

let on: EmbeddingStage;
beforeAll(async () => {
  on = await openEmbeddingStage();
}, 60_000);
beforeEach(() => on.reset());

describe("what a provider answers is checked: the client gets vectors as it asked for or an error, and pays nothing for the error", () => {
  const first = (embedding: unknown) => (data: Record<string, unknown>[]) => [{ ...data[0], embedding }, ...data.slice(1)];
  const infinite = Buffer.from([0, 0, 128, 127, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).toString("base64");
  const notANumber = Buffer.from([0, 0, 192, 127, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).toString("base64");

  test.each<[string, (data: Record<string, unknown>[]) => unknown[]]>([
    ["fewer vectors", (data) => data.slice(1)],
    ["more vectors", (data) => [...data, { ...data[0], index: 2 }]],
    ["none", () => []],
    ["too few dimensions", first(vectorAt(0, 3))],
    ["too many dimensions", first(base64Of(vectorAt(0, 5)))],
    ["Infinity", first(infinite)],
    ["NaN", first(notANumber)],
    ["a number beyond 32 bits", first([1e39, 0, 0, 0])],
    ["a text among the numbers", first(["1", 0, 0, 0])],
    ["what is no base64", first("####")],
    ["no vector", first(null)],
    ["the same index twice", (data) => data.map((item) => ({ ...item, index: 0 }))],
    ["an index beyond the inputs", (data) => data.map((item) => ({ ...item, index: 7 }))],
  ])("%s: upstream_error after one retry", async (_, change) => {
    on.provider.answer(embeddings({ change }));
    const calls = on.provider.calls.length;
    const answer = await on.embed({ input: ["one", "two"] });
    expect([answer.status, answer.error?.code]).toEqual([502, "upstream_error"]);
    expect(on.provider.calls.length).toBe(calls + 2);
    expect(await on.settled()).toMatchObject({
      status: 502,
      code: "upstream_error",
      cost_usd: "0.000000000",
      endpoint: "embeddings",
    });
  });

  test("another order is put right by the index", async () => {
    on.provider.answer(embeddings({ change: (data) => data.toReversed() }));
    expect((await on.embed({ input: ["one", "two"] })).data.map(({ embedding }) => embedding)).toEqual([
      vectorAt(0),
      vectorAt(1),
    ]);
  });
});

describe("a failed call", () => {
  test("is repeated once after upstream_error, and the second answer is served", async () => {
    on.provider.answerOnce(error(500));
    expect((await on.embed({ input: "one" })).status).toBe(200);
    expect(await on.settled()).toMatchObject({ status: 200, cost_usd: "0.000003000" });
  });
});

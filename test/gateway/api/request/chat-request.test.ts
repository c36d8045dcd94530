import { describe, expect, test } from "bun:test";
import { check, hello, messageOf, nothing, refusal, tool, type Body } from "../../../support/gateway/check-chat.ts";

describe("model", () => {
  test.each([
    [{ model: undefined }, "invalid_request model"],
    [{ model: null }, "invalid_request model"],
    [{ model: 7 }, "invalid_request model"],
    [{ model: "" }, "invalid_request model"],
    [{ model: "a".repeat(257) }, "invalid_request model"],
    [{ model: "custom:mine" }, "unsupported_parameter model"],
  ])("the gateway refuses %j", (fields, expected) => {
    expect(refusal(fields)).toBe(expected);
  });

  test("the check passes a model that is not in the catalog, with any field that depends on the model", () => {
    expect(refusal({ tools: [tool], max_tokens: 9_000_000, seed: 1 }, null)).toBeNull();
    expect(refusal({ temperature: 3 }, null)).toBe("invalid_request temperature");
  });
});

describe("routing is off", () => {
  test.each([
    [{ models: ["a/b"], provider: { order: ["x"] } }, "models"],
    [{ provider: { sort: "price", order: ["x"] } }, "provider.order"],
    [{ provider: { ignore: ["x"], only: ["x"] } }, "provider.only"],
    [{ provider: { ignore: ["x"], sort: "price" } }, "provider.ignore"],
    [{ provider: { sort: "price" } }, "provider.sort"],
    [{ provider: { allow_fallbacks: false } }, "provider"],
    [{ provider: "openai" }, "provider"],
  ])("the gateway refuses %j", (fields, param) => {
    expect(refusal(fields)).toBe(`unsupported_parameter ${param}`);
  });
});

test("the gateway answers the first problem: model, messages in order, then fields in the order of the official schema", () => {
  const problems: [Body, string][] = [
    [{ zebra: 1 }, "zebra"],
    [{ provider: {} }, "provider"],
    [{ functions: 1 }, "functions"],
    [{ n: 2 }, "n"],
    [{ max_tokens: 0 }, "max_tokens"],
    [{ temperature: 3 }, "temperature"],
    [{ metadata: 1 }, "metadata"],
    [{ messages: [{ role: "user", content: "x" }, { role: "user" }] }, "messages[1].content"],
    [{ messages: [{ role: "wizard" }, { role: "user" }] }, "messages[0].role"],
    [{ model: "custom:x" }, "model"],
  ];
  let fields: Body = {};
  for (const [problem, param] of problems) {
    fields = { ...fields, ...problem };
    expect(refusal(fields)).toEndWith(` ${param}`);
  }
});

test("the gateway accepts labels and does not send them on", () => {
  const labels = { user: "u", metadata: { a: "b" }, safety_identifier: "s", prompt_cache_key: "p", store: false };
  expect(check(labels, nothing).body).toEqual({ model: "acme/one", messages: hello });
});

test("the bound on input tokens counts everything that is sent on", () => {
  const plain = check({}).inputTokens;
  expect(check({ messages: [{ role: "user", content: "é".repeat(1_000) }] }).inputTokens).toBeGreaterThanOrEqual(2_000);
  expect(check({ tools: [tool] }).inputTokens).toBeGreaterThan(plain + 50);
  expect(check({ tools: [tool] }).tools).toBe(true);
  expect(check({ user: "u".repeat(1_000) }).inputTokens).toBe(plain);
});

test("an error message truncates long field names", () => {
  const name = "x".repeat(10_000);
  expect(messageOf({ [name]: 1 }).length).toBeLessThan(200);
});

import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { readCatalog } from "../../../../src/gateway/models/catalog.ts";
import { check, messageOf, nothing, refusal } from "../../../support/gateway/check-chat.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { aModel } from "../../../support/providers/models.ts";

const { models } = await readCatalog(join(import.meta.dir, "../../../../catalog-data"), { sandbox: false });
const fixedSampling = chatModel([], { defaultOnly: new Set(["temperature", "top_p"]) });

describe("a model with default_only fields", () => {
  test.each([
    ["temperature", 0],
    ["temperature", 0.7],
    ["temperature", 2],
    ["top_p", 0.9],
  ])("the gateway refuses %s %p and says which value is supported", (name, value) => {
    expect(refusal({ [name]: value }, fixedSampling)).toBe(`unsupported_parameter ${name}`);
    expect(messageOf({ [name]: value }, fixedSampling)).toBe(`${name}: only ${name}=1 is supported`);
  });

  test("the gateway accepts the default, which it does not send on, and an absent value", () => {
    const { body } = check({ temperature: 1, top_p: null }, fixedSampling);
    expect(body).not.toContainAnyKeys(["temperature", "top_p"]);
  });

  test("a value that the official schema refuses is invalid_request", () => {
    expect(refusal({ temperature: 3 }, fixedSampling)).toBe("invalid_request temperature");
  });
});

describe("a model that reasons unless it is told not to, and samples only without reasoning", () => {
  const model = aModel({ default_only: ["temperature", "top_p"], samples_without_reasoning: true, efforts: ["none", "high"] });

  test.each([{}, { reasoning_effort: null }, { reasoning_effort: "high" }])(
    "the gateway refuses a temperature beside %j",
    (effort) => {
      expect(refusal({ temperature: 0.2, ...effort }, model)).toBe("unsupported_parameter temperature");
      expect(messageOf({ temperature: 0.2, ...effort }, model)).toBe(
        "temperature: only temperature=1, or reasoning_effort=none, is supported",
      );
    },
  );

  test("the gateway sends it on with the effort none", () => {
    const { body } = check({ temperature: 0.2, top_p: 0.9, reasoning_effort: "none" }, model);
    expect(body).toMatchObject({ temperature: 0.2, top_p: 0.9, reasoning_effort: "none" });
  });

  test.each([
    "openai/gpt-5.5",
    "openai/gpt-5.5-2026-04-23",
    "openai/gpt-5.6-luna",
    "openai/gpt-5.6-sol",
    "openai/gpt-5.6-terra",
    "openai/gpt-6-luna",
    "openai/gpt-6-sol",
    "openai/gpt-6.1-terra",
  ])("is %s in the shipped catalog", (id) => {
    const shipped = models.get(id) ?? null;
    expect(refusal({ temperature: 0.2 }, shipped)).toBe("unsupported_parameter temperature");
    expect(refusal({ top_p: 0.2, reasoning_effort: "low" }, shipped)).toBe("unsupported_parameter top_p");
    expect(refusal({ temperature: 0.2, reasoning_effort: "none" }, shipped)).toBeNull();
  });

  test.each(["openai/gpt-5.1", "openai/gpt-5.2", "openai/gpt-5.4", "openai/gpt-5.4-mini"])(
    "%s, which reasons only when told to, takes a temperature",
    (id) => {
      expect(refusal({ temperature: 0.2 }, models.get(id) ?? null)).toBeNull();
      expect(models.get(id)?.routes.map((route) => route.samplesWithoutReasoning)).toEqual([true]);
    },
  );
});

test("other models get every value", () => {
  expect(check({ temperature: 1, top_p: 0.9 }, nothing).body).toMatchObject({ temperature: 1, top_p: 0.9 });
});

test("default_only in the catalog becomes the model's defaultOnly", () => {
  expect(aModel().defaultOnly).toEqual(new Set());
  expect(aModel({ default_only: ["top_p"] }).defaultOnly).toEqual(new Set(["top_p"]));
});

import { describe, expect, test } from "bun:test";
import { check, messageOf, nothing, refusal } from "../../../support/gateway/check-chat.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { aModel } from "../../../support/providers/models.ts";

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

test("other models get every value", () => {
  expect(check({ temperature: 1, top_p: 0.9 }, nothing).body).toMatchObject({ temperature: 1, top_p: 0.9 });
});

test("default_only in the catalog becomes the model's defaultOnly", () => {
  expect(aModel().defaultOnly).toEqual(new Set());
  expect(aModel({ default_only: ["top_p"] }).defaultOnly).toEqual(new Set(["top_p"]));
});

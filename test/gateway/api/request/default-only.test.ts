import { describe, expect, test } from "bun:test";
import { check, messageOf, nothing, refusal } from "../../../support/gateway/check-chat.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { aModel } from "../../../support/providers/models.ts";

const selfWilled = chatModel([], { defaultOnly: new Set(["temperature", "top_p"]) });

describe("a model that samples by itself", () => {
  test.each([
    ["temperature", 0],
    ["temperature", 0.7],
    ["temperature", 2],
    ["top_p", 0.9],
  ])("does not take %s %p, and the answer says what it takes", (name, value) => {
    expect(refusal({ [name]: value }, selfWilled)).toBe(`unsupported_parameter ${name}`);
    expect(messageOf({ [name]: value }, selfWilled)).toBe(`${name}: only ${name}=1 is supported`);
  });

  test("takes the default, which is not sent on, and no value at all", () => {
    const { body } = check({ temperature: 1, top_p: null }, selfWilled);
    expect(body).not.toContainAnyKeys(["temperature", "top_p"]);
  });

  test("is told first what is wrong by the official schema", () => {
    expect(refusal({ temperature: 3 }, selfWilled)).toBe("invalid_request temperature");
  });
});

test("every other model is sampled as it is told", () => {
  expect(check({ temperature: 1, top_p: 0.9 }, nothing).body).toMatchObject({ temperature: 1, top_p: 0.9 });
});

test("the catalog says of a model what it takes with its default alone", () => {
  expect(aModel().defaultOnly).toEqual(new Set());
  expect(aModel({ default_only: ["top_p"] }).defaultOnly).toEqual(new Set(["top_p"]));
});

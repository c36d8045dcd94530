import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { chatFields } from "../../../../src/gateway/api/request/chat-fields.ts";
import { factsOf, supportWords, type SupportWord } from "../../../../src/gateway/api/request/requested-model.ts";
import { readCatalog } from "../../../../src/gateway/models/catalog.ts";
import { dialectFrom } from "../../../../src/gateway/models/dialect.ts";
import type { Route } from "../../../../src/gateway/models/model.ts";
import { check, everything, hello, messageOf, nothing, refusal, tool, type Body } from "../../../support/gateway/check-chat.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { aModel } from "../../../support/providers/models.ts";
import { route } from "../../../support/providers/routes.ts";
import { fieldCases } from "./field-cases.ts";

test("every field of the table has its cases", () => {
  expect(Object.keys(fieldCases)).toEqual(chatFields.map((field) => field.name));
});

const shown = (value: unknown): string => JSON.stringify(value).slice(0, 70);

describe("an accepted field", () => {
  const accepted = Object.entries(fieldCases).flatMap(([name, cases]) =>
    cases.accepted.map(([value, sentOn, beside]) => ({ name, shown: shown(value), value, sentOn, beside })),
  );

  test.each(accepted)("the gateway accepts $name: $shown and sends on exactly its part", ({ name, value, sentOn, beside }) => {
    const { [name]: sent, ...others } = check({ ...beside, [name]: value }).body;
    expect(sent).toEqual(sentOn);
    expect(others).toEqual(check({ ...beside }).body);
  });
});

describe("a refused field", () => {
  const refused = Object.entries(fieldCases).flatMap(([name, cases]) =>
    cases.refused.map(([value, code, param = name, beside]) => ({ name, shown: shown(value), value, code, param, beside })),
  );

  test.each(refused)("the gateway refuses $name: $shown with $code", ({ name, value, code, param, beside }) => {
    expect(refusal({ ...beside, [name]: value })).toBe(`${code} ${param}`);
  });

  test.each(["top_k", "thinking", "safety_settings", "__proto__x", "constructor", "Temperature", ""])(
    "the field %p, which the official schema does not have, is unsupported_parameter",
    (name) => {
      expect(refusal({ [name]: 1 })).toBe(`unsupported_parameter ${name}`);
    },
  );

  test("the message for n says that only n=1 is supported", () => {
    expect(messageOf({ n: 2 })).toContain("only n=1 is supported");
  });

  test("the message for max_tokens has the model's limit", () => {
    expect(messageOf({ max_completion_tokens: 4_097 })).toContain("4096");
  });
});

describe("explicit null", () => {
  test.each(chatFields.map(({ name }) => name))("null means absent for %s", (name) => {
    expect(refusal({ [name]: null, stream: name === "stream" ? null : true })).toBeNull();
  });

  test("null is never sent on", () => {
    const nulls = Object.fromEntries(chatFields.map(({ name }) => [name, null]));
    expect(check(nulls).body).toEqual({ model: "acme/one", messages: hello });
  });

  test("null means absent for the optional fields within others too", () => {
    const custom = { name: "shell", description: null, format: null };
    const called = { name: "look_up", description: null, parameters: null, strict: null };
    const tools = [
      { type: "custom", custom },
      { type: "function", function: called, cache_control: null },
    ];
    expect(check({ tools }).body["tools"]).toEqual([
      { type: "custom", custom: { name: "shell" } },
      { type: "function", function: { name: "look_up" } },
    ]);
  });
});

describe("what the model supports", () => {
  const calling = (id: string) => [
    { role: "assistant", tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }] },
    { role: "tool", tool_call_id: id, content: "done" },
  ];
  const fields: Record<SupportWord, Body> = {
    tools: { tools: [tool] },
    custom_tools: { tools: [{ type: "custom", custom: { name: "shell" } }] },
    functions: { functions: [{ name: "f" }] },
    json_object: { response_format: { type: "json_object" } },
    json_schema: { response_format: { type: "json_schema", json_schema: { name: "x", schema: {}, strict: true } } },
    reasoning: { reasoning_effort: "low" },
    reasoning_content: { messages: [{ role: "assistant", content: "Hi", reasoning_content: "thinking" }] },
    thought_signatures: { messages: calling("call_1.sig.gemini-3_5-flash.c2lnbmVk") },
    verbosity: { verbosity: "low" },
    penalties: { frequency_penalty: 1 },
    seed: { seed: 7 },
    logit_bias: { logit_bias: { "1": 2 } },
    logprobs: { logprobs: true },
    prediction: { prediction: { type: "content", content: "x" } },
    cache_control: { cache_control: { type: "ephemeral" } },
  };
  const words = Object.keys(supportWords) as SupportWord[];
  const needed: Partial<Record<SupportWord, string>> = { custom_tools: "tools" };
  const implied = words.flatMap((word) =>
    words.filter((stronger) => factsOf(word).impliedBy === stronger).map((stronger) => [word, stronger] as const),
  );
  const openers = (word: SupportWord) => [word, factsOf(word).impliedBy].filter((opener) => opener !== undefined);

  test.each(words)("the word %s opens its field, which is then sent on", (word) => {
    const [[name = "", value] = []] = Object.entries(fields[word]);
    const words = [word, ...(needed[word] === undefined ? [] : [needed[word]])];
    const model = chatModel(words, { reasons: word === "reasoning_content" });
    expect(check(fields[word], model).body[name]).toEqual(value);
  });

  const leftOut: SupportWord[] = ["reasoning_content", "thought_signatures"];
  test.each(words.filter((word) => !leftOut.includes(word)))("without the word %s its field is unsupported_parameter", (word) => {
    const [name = ""] = Object.keys(fields[word]);
    const others = words.filter((other) => !openers(word).includes(other));
    expect(refusal(fields[word], chatModel(others))).toStartWith(`unsupported_parameter ${name}`);
  });

  test("the message names the model and what it does not support", () => {
    expect(messageOf(fields.json_schema, nothing)).toBe("acme/one does not support response_format json_schema");
    expect(messageOf(fields.seed, nothing)).toBe("acme/one does not support seed");
  });

  test("reasoning goes on to every model that reasons, and is left out for others", () => {
    const reasons = chatModel([], { reasons: true });
    expect<unknown>(check(fields.reasoning_content, reasons).body.messages).toEqual(fields.reasoning_content["messages"]);
    expect(check(fields.reasoning_content, nothing).body.messages).toEqual([{ role: "assistant", content: "Hi" }]);
  });

  test("reasoning is left out where no provider of the model takes it, and sent where one does", () => {
    const never = route("a", { dialect: { ...dialectFrom("openai"), reasoningContent: "never" } });
    const sent = (routes: Route[]) => check(fields.reasoning_content, chatModel([], { reasons: true, routes })).body.messages[0];
    expect(sent([never])).not.toHaveProperty("reasoning_content");
    expect(sent([never, route("b")])).toHaveProperty("reasoning_content");
  });

  test("the signature is removed from call ids for a model that does not want it back", () => {
    expect(check(fields.thought_signatures, nothing).body.messages).toEqual(calling("call_1"));
  });

  test.each(implied)("the field of %s is also open if the model supports %s", (word, stronger) => {
    expect(refusal(fields[word], chatModel([stronger]))).toBeNull();
    expect(refusal(fields[stronger], chatModel([word]))).toStartWith("unsupported_parameter");
  });

  test("values that ask for the default need no support, since some SDKs always send them", () => {
    const asIfAbsent = Object.entries(fieldCases).flatMap(([name, { accepted }]) =>
      accepted.filter(([, sentOn, beside]) => sentOn === undefined && !beside).map(([value]) => [name, value] as const),
    );
    for (const [name, value] of asIfAbsent) {
      expect(check({ [name]: value }, nothing).body).toEqual({ model: "acme/one", messages: hello });
    }
    expect(asIfAbsent.map(([name]) => name)).toContain("frequency_penalty");
  });

  test("an unknown model passes with every field, since a later check refuses it", () => {
    for (const word of words) expect(refusal(fields[word], null)).toBeNull();
  });
});

test("either of two fields limits the output, and both may be given if they are equal", () => {
  expect(check({ max_tokens: 10, max_completion_tokens: 10 }).maxTokens).toBe(10);
  expect(check({ max_completion_tokens: 12 }).maxTokens).toBe(12);
  expect(check({ max_tokens: 12, max_completion_tokens: null }).maxTokens).toBe(12);
  expect(check({}).maxTokens).toBeNull();
});

test("the check reports whether the client requested a stream and its usage chunk", () => {
  const options = { include_usage: true, include_obfuscation: false };
  expect(check({ stream: true, stream_options: options })).toMatchObject({ streamed: true, includeUsage: true });
  expect(check({ stream: true }, everything)).toMatchObject({ streamed: true, includeUsage: false });
  expect(check({})).toMatchObject({ streamed: false, includeUsage: false });
});

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

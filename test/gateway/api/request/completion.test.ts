import { describe, expect, test } from "bun:test";
import type { CheckedChat } from "../../../../src/gateway/api/request/chat-request.ts";
import { checkCompletion, completionFields } from "../../../../src/gateway/api/request/completion.ts";
import { GatewayError } from "../../../../src/kernel/errors.ts";
import { everything, nothing, type Body } from "../../../support/gateway/check-chat.ts";
import { fieldCases, type FieldCases } from "./field-cases.ts";

function check(fields: Body, model: typeof everything | null = everything): CheckedChat {
  const bytes = new TextEncoder().encode(JSON.stringify({ model: "acme/one", prompt: "Hi", ...fields }));
  return checkCompletion(bytes, { find: () => model });
}

function refusal(fields: Body, model: typeof everything | null = everything): string | null {
  try {
    check(fields, model);
    return null;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return `${error.status} ${error.code} ${error.param}`;
  }
}

const refusedUnlessNull = (...values: unknown[]): FieldCases["refused"] =>
  values.map((value) => [value, "unsupported_parameter"]);

/** The fields whose rules are not those of a chat completion. */
const ownCases: Record<string, FieldCases> = {
  best_of: { accepted: [[1, undefined]], refused: refusedUnlessNull(2, 0, "1") },
  echo: { accepted: [[false, undefined]], refused: refusedUnlessNull(true, "false") },
  logprobs: { accepted: [], refused: refusedUnlessNull(0, 5, true) },
  suffix: { accepted: [], refused: refusedUnlessNull("", "The end") },
  max_tokens: {
    accepted: [1, 16, 4_096].map((value) => [value, undefined]),
    refused: [0, -1, 4_097, 1.5, "16"].map((value) => [value, "invalid_request"]),
  },
};

const cases = completionFields.map(({ name }) => ({ name, ...(ownCases[name] ?? fieldCases[name] ?? neverTested(name)) }));

function neverTested(name: string): never {
  throw new Error(`The field "${name}" has no cases`);
}

describe("the prompt of a completion", () => {
  test.each([["Hi"], [["Hi"]]])("%j becomes the one message of a user", (prompt) => {
    expect(check({ prompt }).body).toEqual({ model: "acme/one", messages: [{ role: "user", content: "Hi" }] });
  });

  test.each([
    [undefined, "invalid_request prompt"],
    ["", "invalid_request prompt"],
    [[], "invalid_request prompt"],
    [[""], "invalid_request prompt[0]"],
    [[null], "invalid_request prompt[0]"],
    [7, "invalid_request prompt"],
    [{ text: "Hi" }, "invalid_request prompt"],
    [null, "unsupported_parameter prompt"],
    [["a", "b"], "unsupported_parameter prompt"],
    [[1], "unsupported_parameter prompt"],
    [[15_339, 11], "unsupported_parameter prompt"],
    [[[15_339, 11]], "unsupported_parameter prompt"],
    [[[1], "a"], "unsupported_parameter prompt"],
  ])("the gateway refuses %j", (prompt, expected) => {
    expect(refusal({ prompt })).toBe(`400 ${expected}`);
  });

  test("its bytes and 16 tokens bound what the provider may count", () => {
    expect(check({ prompt: "Hi" }).inputTokens).toBe(18);
    expect(check({ prompt: ["é"] }).inputTokens).toBe(18);
  });
});

describe("the fields of a completion", () => {
  const accepted = cases.flatMap(({ name, accepted: values }) =>
    values.map(([value, sentOn, beside]) => ({ name, value, sentOn, beside })),
  );
  const refused = cases.flatMap(({ name, refused: values }) =>
    values.map(([value, code, param = name, beside]) => ({ name, value, code, param, beside })),
  );

  test.each(accepted)("the gateway accepts $name: $value and sends on exactly its part", ({ name, value, sentOn, beside }) => {
    const { [name]: sent, ...others } = check({ ...beside, [name]: value }).body;
    expect(sent).toEqual(sentOn);
    expect(others).toEqual(check({ ...beside }).body);
  });

  test.each(refused)("the gateway refuses $name: $value with $code", ({ name, value, code, param, beside }) => {
    expect(refusal({ ...beside, [name]: value })).toBe(`400 ${code} ${param}`);
  });

  test.each(completionFields.map(({ name }) => name))("null means absent for %s", (name) => {
    const checked = (fields: Body) => ({ ...check(fields), promptEstimate: check(fields).promptEstimate() });
    expect(checked({ [name]: null, stream: name === "stream" ? null : true })).toEqual(checked({ stream: name !== "stream" }));
  });

  test("a field that needs a word of the model is refused without it", () => {
    for (const [name, value] of Object.entries({ seed: 7, logit_bias: { "1": 1 }, presence_penalty: 1 }))
      expect(refusal({ [name]: value }, nothing)).toBe(`400 unsupported_parameter ${name}`);
  });

  test.each(["messages", "tools", "max_completion_tokens", "models", "response_format"])(
    "the field %s, which completions do not have, is unsupported_parameter",
    (name) => {
      expect(refusal({ [name]: [] })).toBe(`400 unsupported_parameter ${name}`);
    },
  );
});

describe("the bound on output", () => {
  test("an answer has at most 16 tokens unless the request says otherwise", () => {
    expect(check({}).maxTokens).toBe(16);
    expect(check({ max_tokens: null }).maxTokens).toBe(16);
    expect(check({ max_tokens: 300 }).maxTokens).toBe(300);
  });
});

test("the first problem is answered: model, prompt, then fields in the order of the official schema, then unknown ones", () => {
  const problems: [Body, string][] = [
    [{ zebra: 1 }, "zebra"],
    [{ user: 7 }, "user"],
    [{ n: 2 }, "n"],
    [{ best_of: 2 }, "best_of"],
    [{ prompt: "" }, "prompt"],
    [{ model: "custom:x" }, "model"],
  ];
  let fields: Body = {};
  for (const [problem, param] of problems) {
    fields = { ...fields, ...problem };
    expect(refusal(fields)).toEndWith(` ${param}`);
  }
});

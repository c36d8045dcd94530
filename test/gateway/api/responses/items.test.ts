/** How the items of a request become the messages of a chat. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { responsesFormat } from "../../../../src/gateway/api/responses/request.ts";
import { apart, type ChatMessage } from "../../../../src/gateway/providers/provider.ts";
import { readPathText } from "../../../../src/gateway/providers/provider-error.ts";
import { signerOf } from "../../../../src/gateway/providers/wire/answers.ts";
import { packedThought } from "../../../../src/gateway/thoughts.ts";
import { ManualClock } from "../../../support/clock.ts";
import { everything } from "../../../support/gateway/check-chat.ts";
import { checkResponse, plain, refusalOf, refused } from "../../../support/gateway/check-response.ts";
import { chatModel } from "../../../support/providers/model.ts";

const call = (id: string, name = "look_up") => ({ type: "function_call", call_id: id, name, arguments: "{}" });
const result = (id: string, output: unknown = `result of ${id}`) => ({ type: "function_call_output", call_id: id, output });
const user = (content: unknown) => ({ role: "user", content });
const said = (content: unknown) => ({ role: "assistant", content });
const seal = packedThought({ signer: "acme_one", text: "Hm", seal: "S" });
const reasoning = (encrypted_content: string | null = seal) => ({
  type: "reasoning",
  id: "rs_1",
  summary: [],
  encrypted_content,
});

const messagesOf = (input: unknown, model = everything): ChatMessage[] => checkResponse({ input }, model).chat.body.messages;
/** Who says what, in one line each. */
const linesOf = (input: unknown[], model = everything): string[] =>
  messagesOf(input, model).map(({ role, content, tool_calls: calls, tool_call_id: of }) => {
    const called = Array.isArray(calls) ? ` calls ${calls.map(({ id }: { id: string }) => id).join(", ")}` : "";
    return `${role}${of === undefined ? "" : ` of ${String(of)}`}: ${JSON.stringify(content)}${called}`;
  });

test("a text is one message of the user", () => {
  expect(messagesOf("Hi")).toMatchObject([{ role: "user", content: "Hi" }]);
});

test("texts stay texts, parts stay parts, and what was added to an earlier answer is left out", () => {
  const part = { type: "output_text", text: "So", annotations: [{}], logprobs: [{}], parsed: { a: 1 } };
  const items = [
    { type: "message", role: "developer", content: [{ type: "input_text", text: "Be brief" }] },
    user("Hi"),
    { id: "msg_1", type: "message", status: "completed", phase: "commentary", role: "assistant", content: [part] },
    said([{ type: "refusal", refusal: "No" }]),
  ];
  expect(messagesOf(items)).toMatchObject([
    { role: "developer", content: [{ type: "text", text: "Be brief" }] },
    { role: "user", content: "Hi" },
    { role: "assistant", content: [{ type: "text", text: "So" }] },
    { role: "assistant", content: [{ type: "refusal", refusal: "No" }] },
  ]);
});

describe("calls", () => {
  test("that follow each other are one message, with the text before them, and their results follow it", () => {
    expect(linesOf([user("Hi"), said("Let me see"), call("a"), call("b"), result("a"), result("b")])).toEqual([
      'user: "Hi"',
      'assistant: "Let me see" calls a, b',
      'tool of a: "result of a"',
      'tool of b: "result of b"',
    ]);
  });

  test("of several turns stay apart", () => {
    expect(linesOf([user("Hi"), call("a"), result("a"), call("b"), result("b"), said("Done")])).toEqual([
      'user: "Hi"',
      "assistant: null calls a",
      'tool of a: "result of a"',
      "assistant: null calls b",
      'tool of b: "result of b"',
      'assistant: "Done"',
    ]);
  });

  test("get a result that a message parts from them", () => {
    expect(linesOf([user("Hi"), call("a"), user("Well?"), result("a")])).toEqual([
      'user: "Hi"',
      "assistant: null calls a",
      'tool of a: "result of a"',
      'user: "Well?"',
    ]);
  });

  test("may have the id of a call of an earlier turn", () => {
    expect(linesOf([call("a"), result("a", "1"), call("a"), result("a", "2")])).toEqual([
      "assistant: null calls a",
      'tool of a: "1"',
      "assistant: null calls a",
      'tool of a: "2"',
    ]);
  });

  test("have results in parts, which may be empty", () => {
    expect(messagesOf([call("a"), result("a", [{ type: "input_text", text: "1" }]), call("b"), result("b", [])])).toMatchObject([
      {},
      { content: [{ type: "text", text: "1" }] },
      {},
      { content: "" },
    ]);
  });

  test.each([
    [[result("a")], "input[0].call_id"],
    [[user("Hi"), call("a")], "input[1].call_id"],
    [[call("a"), result("a"), result("a")], "input[2].call_id"],
    [[result("a"), call("a")], "input[0].call_id"],
    [[call("a"), call("b"), result("b")], "input[0].call_id"],
  ])("without their results, and results without their calls, are refused: %j", (input, param) => {
    expect(refusalOf({ input })).toBe(`invalid_request ${param}`);
  });

  test("of a custom tool are those of a function where the model has no custom tools", () => {
    const items = [
      { type: "custom_tool_call", call_id: "a", name: "exec", namespace: "functions", input: 'text("hi")' },
      { type: "custom_tool_call_output", call_id: "a", output: "ok" },
    ];
    expect(messagesOf(items)[0]?.["tool_calls"]).toEqual([
      { id: "a", type: "custom", custom: { name: "functions__exec", input: 'text("hi")' } },
    ]);
    expect(messagesOf(items, plain)[0]?.["tool_calls"]).toEqual([
      { id: "a", type: "function", function: { name: "functions__exec", arguments: '{"input":"text(\\"hi\\")"}' } },
    ]);
  });
});

describe("thoughts", () => {
  const factsOf = (input: unknown[]) => messagesOf(input).map((message) => message[apart]?.thoughts);
  const thought = { signer: "acme_one", text: "Hm", seal: "S" };

  test("stand with the message that follows them, and with the calls that they precede", () => {
    expect(
      factsOf([user("Hi"), reasoning(), call("a"), reasoning(), call("b"), result("a"), result("b"), reasoning(), said("So")]),
    ).toEqual([
      undefined,
      [
        { ...thought, callsBefore: 0 },
        { ...thought, callsBefore: 1 },
      ],
      undefined,
      undefined,
      [{ ...thought, callsBefore: 0 }],
    ]);
  });

  test("make no message of their own", () => {
    expect(linesOf([user("Hi"), reasoning(), user("Again"), reasoning()])).toEqual(['user: "Hi"', 'user: "Again"']);
    expect(linesOf([user("Hi"), reasoning(), said("")])).toEqual(['user: "Hi"']);
  });

  test("without a seal are the reasoning of their message, for the model that thought them and no other", () => {
    const reasoner = chatModel(["tools", "reasoning_content"], { reasons: true });
    const [served] = reasoner.routes;
    if (served === undefined) throw new Error("The model has no route");
    const text = packedThought({ signer: signerOf(served), text: "Hm", seal: "" });
    const others = packedThought({ signer: "another", text: "Aha", seal: "" });
    const input = [user("Hi"), reasoning(text), reasoning(others), reasoning(text), call("a"), result("a")];
    expect(messagesOf(input, reasoner)[1]).toMatchObject({ role: "assistant", reasoning_content: "Hm\n\nHm" });
    expect(messagesOf(input, plain)[1]).not.toHaveProperty("reasoning_content");
    expect(messagesOf([user("Hi"), reasoning(), said("So")], reasoner)[1]).not.toHaveProperty("reasoning_content");
  });

  test.each(["", "gAAAAB-of-another-service", "w1.acme_one.not-base64!", "w1.", null])(
    "of another service, or that cannot be read, are left out: %p",
    (encrypted) => {
      expect(factsOf([user("Hi"), reasoning(encrypted), said("So")])).toEqual([undefined, undefined]);
    },
  );
});

test("an instruction behind the first words of the user stays there, and is marked", () => {
  const instruct = (role: string) => ({ role, content: "Be brief" });
  const messages = messagesOf([instruct("developer"), instruct("system"), user("Hi"), instruct("developer")]);
  expect(messages.map(({ role }) => role)).toEqual(["developer", "system", "user", "developer"]);
  expect(messages.map((message) => message[apart]?.late)).toEqual([undefined, undefined, undefined, true]);
});

describe("the gateway refuses", () => {
  test.each<[unknown, string]>([
    [user([{ type: "input_file", file_id: "f" }]), "unsupported_parameter input[1].content[0]"],
    [user([{ type: "input_text", text: "Hi" }, { type: "input_audio" }]), "unsupported_parameter input[1].content[1]"],
    [user([{ type: "refusal", refusal: "No" }]), "invalid_request input[1].content"],
    [user([]), "invalid_request input[1].content"],
    [user(7), "invalid_request input[1].content"],
    [user([7]), "invalid_request input[1].content[0]"],
    [user(undefined), "invalid_request input[1].content"],
    [{ role: "tool", content: "x" }, "invalid_request input[1].role"],
    [{ ...user("Hi"), name: "x" }, "unsupported_parameter input[1].name"],
    [{ type: "item_reference", id: "msg_1" }, "unsupported_parameter input[1]"],
    [{ type: "web_search_call", id: "ws_1" }, "unsupported_parameter input[1]"],
    [{ type: "compaction", encrypted_content: "x" }, "unsupported_parameter input[1]"],
    [{ type: "constructor" }, "unsupported_parameter input[1]"],
    [{ type: 7 }, "invalid_request input[1].type"],
    ["Hi", "invalid_request input[1]"],
    [null, "invalid_request input[1]"],
    [{ ...call("a"), arguments: {} }, "invalid_request input[1].arguments"],
    [{ ...call("a"), call_id: undefined }, "invalid_request input[1].call_id"],
    [{ type: "tool_search_call", call_id: null, execution: "server", arguments: {} }, "invalid_request input[1].execution"],
  ])("%j", (item, expected) => {
    expect(refusalOf({ input: [user("Hi"), item] })).toBe(expected);
  });

  test("an image in the result of a tool, with its path", () => {
    expect(refused({ input: [call("a"), result("a", [{ type: "input_image", image_url: "data:," }])] })).toMatch(
      /^unsupported_parameter input\[1\]\.output\[0\]: .*only text is supported/,
    );
  });

  test("more items than messages, calls, results and thoughts of a chat", () => {
    expect(refusalOf({ input: Array.from({ length: 10_001 }, () => user("Hi")) })).toBe("invalid_request input");
  });
});

test("many parts and calls take little time each", () => {
  const parts = Array.from({ length: 60_000 }, () => ({ type: "input_text", text: "" }));
  expect(messagesOf([user(parts)])[0]?.content).toHaveLength(60_000);
  const calls = Array.from({ length: 4_000 }, (_, index) => call(`c${index}`));
  const results = Array.from({ length: 4_000 }, (_, index) => result(`c${index}`, ""));
  expect(messagesOf([...calls, ...results.toReversed()])).toHaveLength(4_001);
});

describe("the path of a field of the chat", () => {
  const { clientPath } = responsesFormat(new ManualClock());
  const pathOf = (fields: object, path: string) => clientPath?.(checkResponse({ ...fields }).chat.body, readPathText(path));
  const tools = [{ type: "function", name: "look_up" }];

  test.each([
    [{ input: "Hi" }, "messages[0].content", ["input"]],
    [{ input: "Hi", instructions: "x" }, "messages[0].content", ["instructions"]],
    [{ input: "Hi", instructions: "x" }, "messages[1].content", ["input"]],
    [{ input: "Hi" }, "messages", ["input"]],
    [{ input: [user("Hi"), reasoning(), call("a"), result("a")] }, "messages[1].tool_calls[0].id", ["input", "2"]],
    [{ input: [user("Hi"), reasoning(), call("a"), result("a")] }, "messages[2].content", ["input", "3", "output"]],
    [{ input: [user([{ type: "input_text", text: "Hi" }])] }, "messages[0].content[0]", ["input", "0", "content", "0"]],
    [{ tools }, "tools[0].function.parameters", ["tools", "0"]],
    [{}, "reasoning_effort", ["reasoning", "effort"]],
    [{}, "response_format.json_schema.schema.type", ["text", "format", "schema", "type"]],
    [{}, "temperature", ["temperature"]],
  ])("%j %s", (fields, path, expected) => {
    expect(pathOf(fields, path)).toEqual(expected);
  });
});

test("any history of turns becomes one in which every call has its result directly behind its message", () => {
  const turn = fc.oneof(
    fc.constant([user("Hi")]),
    fc.constant([said("So")]),
    fc.constant([reasoning()]),
    fc.tuple(fc.integer({ min: 1, max: 3 }), fc.boolean()).map(([count, parted]) => {
      const ids = Array.from({ length: count }, (_, index) => `c${index}`);
      return [...ids.map((id) => call(id)), ...(parted ? [user("Well?")] : []), ...ids.map((id) => result(id))];
    }),
  );
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 8 }), (turns) => {
      const messages = messagesOf([user("Hi"), ...turns.flat()]);
      for (const [index, { role, content, tool_calls: calls }] of messages.entries()) {
        if (role !== "assistant") continue;
        expect(content !== null || Array.isArray(calls)).toBe(true);
        const ids = Array.isArray(calls) ? calls.map(({ id }: { id: string }) => id) : [];
        const results = messages.slice(index + 1, index + 1 + ids.length);
        expect(results.map(({ role: who, tool_call_id: id }) => [who, id])).toEqual(ids.map((id) => ["tool", id]));
      }
    }),
    { numRuns: 100 },
  );
});

test("a conversation that grows by turns begins as it did before, so that providers know its prompt again", () => {
  const calls = [reasoning(), said("Let me see"), call("a"), call("b"), result("b"), result("a")];
  const turns = [
    [user("Hi")],
    calls,
    [user("Again"), { role: "developer", content: "Be brief" }],
    calls,
    [said("Done")],
    [user("Thanks")],
  ];
  const all = JSON.stringify(messagesOf(turns.flat())).slice(1, -1);
  for (const [count] of turns.entries()) {
    if (count > 0) expect(all.startsWith(JSON.stringify(messagesOf(turns.slice(0, count).flat())).slice(1, -1))).toBe(true);
  }
});

/** What becomes of single blocks: the item, its events, and what is kept. */
import { describe, expect, test } from "bun:test";
import type { AnswerBlock } from "../../../../src/gateway/api/answer/block-sequence.ts";
import { OutputItems } from "../../../../src/gateway/api/responses/output-items.ts";
import type { CalledTool } from "../../../../src/gateway/api/responses/tools.ts";

const names = new Map<string, CalledTool>([
  ["patch", { kind: "custom", name: "patch" }],
  ["clock__sleep", { kind: "function", name: "sleep", namespace: "clock" }],
  ["tool_search", { kind: "search", name: "tool_search" }],
]);

interface Made {
  items: unknown[];
  events: string[];
}

function made(blocks: AnswerBlock[], cut = false): Made {
  const events: string[] = [];
  const items = new OutputItems({ id: "gen-x", signer: "s", names }, (type) => events.push(type.replace("response.", "")));
  for (const [index, block] of blocks.entries()) {
    items.opened(block);
    if (block.text !== "") items.more(block, index, block.text);
    items.isCut = cut && index === blocks.length - 1;
    items.closed(block);
  }
  items.end();
  return { items: items.done.map((item) => JSON.parse(item)), events };
}

const call = (name: string, text: string, custom = false): AnswerBlock => ({ kind: "call", id: "c", name, custom, text });

describe("a call", () => {
  test.each<[string, AnswerBlock, object]>([
    ["of a function", call("f", "{}"), { type: "function_call", name: "f", arguments: "{}", call_id: "c", status: "completed" }],
    ["of a namespace", call("clock__sleep", "{}"), { type: "function_call", name: "sleep", namespace: "clock" }],
    ["of a custom tool", call("patch", "as it is", true), { type: "custom_tool_call", name: "patch", input: "as it is" }],
    ["of an emulated one", call("patch", '{"input":"a\\nb"}'), { type: "custom_tool_call", name: "patch", input: "a\nb" }],
    ["of one without its field", call("patch", '{"patch":1}'), { type: "custom_tool_call", input: '{"patch":1}' }],
    ["of one in no JSON", call("patch", "*** Begin"), { type: "custom_tool_call", input: "*** Begin" }],
    ["of the search", call("tool_search", '{"query":"x"}'), { type: "tool_search_call", arguments: { query: "x" } }],
    ["of the search in no JSON", call("tool_search", "x"), { type: "tool_search_call", arguments: { invalid_arguments: "x" } }],
    ["of a tool that was not sent", call("g", "{}"), { type: "function_call", name: "g" }],
    ["without an id", { ...call("f", "{}"), id: "" } as AnswerBlock, { id: "fc_x_0", call_id: "fc_x_0" }],
  ])("%s", (_, block, expected) => {
    expect(made([block]).items).toMatchObject([expected]);
  });

  test("that is nested too deep stays a text", () => {
    const deep = `{"input":${"[".repeat(1_000)}${"]".repeat(1_000)}}`;
    expect(made([call("patch", deep)]).items).toMatchObject([{ input: deep }]);
  });

  test("that the end cuts is incomplete, unless it was whole", () => {
    expect(made([call("f", '{"a":')], true).items).toMatchObject([{ status: "incomplete" }]);
    expect(made([call("f", '{"a":1}')], true).items).toMatchObject([{ status: "completed" }]);
    expect(made([call("patch", "half", true)], true).items).toMatchObject([{ status: "incomplete" }]);
    expect(made([call("f", "no JSON")]).items).toMatchObject([{ status: "completed" }]);
  });

  test("of a buffered tool has one delta, and an empty one has none", () => {
    const deltas = ({ events }: Made): number => events.filter((type) => type.endsWith(".delta")).length;
    expect(deltas(made([call("patch", '{"input":"abc"}')]))).toBe(1);
    expect(deltas(made([call("patch", '{"input":""}')]))).toBe(0);
    expect(deltas(made([call("tool_search", "{}")]))).toBe(0);
  });
});

test("probabilities and thoughts count as what is kept", () => {
  const items = new OutputItems({ id: "gen-x", signer: "s", names }, () => {});
  const token = { token: "a", logprob: 0, bytes: null };
  items.addLogprobs({ content: [{ ...token, top_logprobs: [token, token] }], refusal: null });
  expect(items.held).toBe(300);
  const thought: AnswerBlock = { kind: "thinking", text: "x".repeat(1_000), seal: "", redacted: false };
  items.opened(thought);
  items.closed(thought);
  expect(items.held).toBeGreaterThan(1_300);
});

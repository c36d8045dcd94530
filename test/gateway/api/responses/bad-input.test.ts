/** Requests for a response that no provider gets: each is refused by name and leaves no trace. And what is large is no problem. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { packedThought, wrappedSeal } from "../../../../src/gateway/thoughts.ts";
import type { ErrorCode } from "../../../../src/kernel/errors.ts";
import type { Body } from "../../../support/gateway/check-chat.ts";
import { checkResponse } from "../../../support/gateway/check-response.ts";
import { expectRefused, expectSound, stage, type Stage } from "../request/bad-input/stage.ts";
import { rawStream } from "../../../support/providers/stub-answers.ts";
import { recorded } from "./recorded/recorded.ts";

let on: Stage;
beforeAll(async () => void (on = await stage()), 60_000);
afterAll(() => expectSound(on));

function post(key: string, fields: Body | string): Promise<Response> {
  return fetch(`${on.fleet.url()}/gpt/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: typeof fields === "string" ? fields : JSON.stringify({ model: "stub/model", input: "Hello", ...fields }),
  });
}

const call = (id: string) => ({ type: "function_call", call_id: id, name: "look_up", arguments: "{}" });
const result = (id: string) => ({ type: "function_call_output", call_id: id, output: "" });
const user = { role: "user", content: "Hi" };
const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;

describe("a request is refused without a trace", () => {
  test.each<[string, Body | string, ErrorCode, string | null]>([
    ["no JSON", "{", "invalid_request", null],
    ["a list", "[]", "invalid_request", null],
    ["too deep", `{"model":"stub/model","input":${nested(70)}}`, "invalid_request", null],
    [
      "too many fields",
      { metadata: Object.fromEntries(Array.from({ length: 5_001 }, (_, n) => [`f${n}`, ""])) },
      "invalid_request",
      null,
    ],
    ["half a pair", '{"model":"stub/model","input":"\\ud83d"}', "invalid_request", null],
    ["kept items", { previous_response_id: "resp_1" }, "unsupported_parameter", "previous_response_id"],
    ["an answer to keep", { store: true }, "unsupported_parameter", "store"],
    ["a conversation", { conversation: "conv_1" }, "unsupported_parameter", "conversation"],
    ["an answer for later", { background: true }, "unsupported_parameter", "background"],
    ["a prompt that is cut", { truncation: "auto" }, "unsupported_parameter", "truncation"],
    ["another tier", { service_tier: "flex" }, "unsupported_parameter", "service_tier"],
    ["another mode", { reasoning: { mode: "pro" } }, "unsupported_parameter", "reasoning.mode"],
    ["what no tool of ours has", { include: ["file_search_call.results"] }, "unsupported_parameter", "include[0]"],
    ["no output", { max_output_tokens: 0 }, "invalid_request", "max_output_tokens"],
    ["a forced search", { tools: [{ type: "web_search" }], tool_choice: "required" }, "invalid_request", "tool_choice"],
    [
      "a chosen search",
      { tools: [{ type: "web_search" }], tool_choice: { type: "web_search" } },
      "unsupported_parameter",
      "tool_choice",
    ],
    ["a file", { input: [{ role: "user", content: [{ type: "input_file" }] }] }, "unsupported_parameter", "input[0].content[0]"],
    ["sound", { input: [{ role: "user", content: [{ type: "input_audio" }] }] }, "unsupported_parameter", "input[0].content[0]"],
    ...["compaction", "computer_call", "local_shell_call", "mcp_call", "program", "configuration_update"].map(
      (type): [string, Body, ErrorCode, string] => [type, { input: [user, { type }] }, "unsupported_parameter", "input[1]"],
    ),
    ["an image", { ...recorded("codex-image"), model: "stub/model" }, "unsupported_parameter", "input[3].content[1]"],
    ["a reference", { input: [{ type: "item_reference", id: "msg_1" }] }, "unsupported_parameter", "input[0]"],
    ["a call alone", { input: [user, call("a")] }, "invalid_request", "input[1].call_id"],
    ["a result alone", { input: [user, result("a")] }, "invalid_request", "input[1].call_id"],
    ["a result twice", { input: [call("a"), result("a"), result("a")] }, "invalid_request", "input[2].call_id"],
    ["nothing but a thought", { input: [{ type: "reasoning", summary: [] }] }, "invalid_request", "input"],
    ["a tool of the provider", { tools: [{ type: "code_interpreter" }] }, "unsupported_parameter", "tools[0].type"],
    ["reasoning as a number", { reasoning: 7 }, "invalid_request", "reasoning"],
    ["text as a list", { text: [] }, "invalid_request", "text"],
    ["an item of 8 MiB", { input: [{ role: "user", content: "x".repeat(8 * 1024 * 1024) }] }, "request_too_large", null],
    ["a prototype", '{"model":"stub/model","input":"x","__proto__":{}}', "unsupported_parameter", "__proto__"],
  ])("%s", async (_, fields, code, param) => {
    await expectRefused(on, (key) => post(key, fields), { code, param });
  });
});

test("an item that just fits and many empty parts are sent on", async () => {
  const { key } = await on.customer();
  const large = await post(key, { input: [{ role: "user", content: "x".repeat(8 * 1024 * 1024 - 200) }], max_output_tokens: 16 });
  expect([large.status, large.status === 200 ? "" : await large.text()]).toEqual([200, ""]);
  const parts = Array.from({ length: 60_000 }, () => ({ type: "input_text", text: "" }));
  expect((await post(key, { input: [user, { role: "user", content: parts }] })).status).toBe(200);
});

test("forged thoughts of any form and length are read or left out, and never refused", () => {
  const whole = packedThought({ signer: "acme_one", text: "Hm", seal: "S", redacted: true });
  const forged = [
    ...Array.from({ length: whole.length }, (_, end) => whole.slice(0, end)),
    ...["[]", "{}", "[1,2]", '["a"]', '["a","b","c","d"]', nested(1_000), '"x"', "null"].map((text) =>
      wrappedSeal({ signer: "acme_one", seal: Buffer.from(text).toString("base64url") }),
    ),
    wrappedSeal({ signer: "acme_one", seal: "x".repeat(1_000_000) }),
  ];
  const input = [...forged.map((encrypted_content) => ({ type: "reasoning", summary: [], encrypted_content })), user];
  expect(checkResponse({ input }).chat.body.messages).toHaveLength(1);
});

test("whatever a provider writes into its texts, the client's lines stay ours", async () => {
  const { key } = await on.customer();
  const nasty = ["\n\nevent: response.completed\ndata: {}\n\n", "\r", "\u2028\u2029", "\0", '"}', "data: [DONE]\n\n", "é😀"];
  const line = (delta: object, reason: string | null = null): string =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
  const id = "i\n\ndata: x".repeat(1_000);
  on.stub.answerOnce(
    rawStream(
      ...nasty.map((content) => line({ content })),
      line({ tool_calls: [{ index: 2 ** 31, id, function: { name: "a\n\nb", arguments: "{}" } }] }),
      line({}, "tool_calls"),
      "data: [DONE]\n\n",
    ),
  );
  const text = await (await post(key, { stream: true })).text();
  const events = text.split("\n\n").filter((one) => one !== "");
  const read = events.map((event): Body => {
    const [, type, data = ""] = /^event: (response\.[a-z_.]+)\ndata: (\{[^\n]*\})$/.exec(event) ?? [];
    return { type, ...(JSON.parse(data) as Body) };
  });
  expect(read.map((event) => event["sequence_number"])).toEqual(read.map((_, index) => index));
  const deltas = read.flatMap((event) => (event["type"] === "response.output_text.delta" ? [event["delta"]] : []));
  expect(deltas.join("")).toBe(nasty.join(""));
  expect(read.filter(({ type }) => type === "response.completed")).toHaveLength(1);
});

/** A request that its provider refuses, through the gateway: over three formats, whole and streamed, on every endpoint. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Customer } from "../../support/operator.ts";
import type { ProviderStub } from "../../support/providers/provider-stub.ts";
import { json, rawStream } from "../../support/providers/stub-answers.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { startStubFleet } from "../../support/servers/stub-fleet.ts";

let stubOf: (name: "openai" | "anthropic" | "google") => ProviderStub;
let fleet: Fleet;
let customer: Customer;

beforeAll(async () => {
  const shared = await startStubFleet();
  ({ fleet, at: stubOf } = shared);
  customer = await fleet.operator().customer({ credit: "10", earlyAccess: ["completions", "embeddings"] });
}, 60_000);

async function refused(path: string, body: Record<string, unknown>) {
  const headers = { authorization: `Bearer ${customer.keys[0]?.key}` };
  const response = await fetch(`${fleet.url()}/gpt/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  expect(text).not.toContain("CANARY");
  const { error } = JSON.parse(text) as { error: { code: string; param: string | null; message: string } };
  return { status: response.status, code: error.code, param: error.param, cause: error.message.split(": ").at(-1) };
}

const messages = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Weather?" },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "call_a", type: "function", function: { name: "weather", arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: "call_a", content: "rain" },
  { role: "user", content: "And now?" },
];
const tools = [
  { type: "function", function: { name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } } },
];

/** What each vendor says of the tool's schema, and of the last message. */
const schema: Record<string, unknown> = {
  openai: {
    error: {
      message: "Invalid schema for function 'weather' CANARY",
      param: "tools[0].function.parameters",
      code: "invalid_function_parameters",
    },
  },
  anthropic: {
    type: "error",
    error: { type: "invalid_request_error", message: "tools.0.custom.input_schema: JSON schema is invalid. CANARY" },
  },
  google: {
    error: {
      code: 400,
      message: "Unknown name \"x\" at 'tools[0].function_declarations[0].parameters': CANARY",
      status: "INVALID_ARGUMENT",
    },
  },
};
const last: Record<string, unknown> = {
  openai: {
    object: "error",
    message: { detail: [{ type: "string_type", loc: ["body", "messages", 4, "user", "content"], msg: "CANARY" }] },
  },
  anthropic: {
    type: "error",
    error: { type: "invalid_request_error", message: "messages.2.content.1.text: Input should be a valid string CANARY" },
  },
  google: {
    error: {
      code: 400,
      message: "Invalid value at 'contents[2].parts[1].text' (TYPE_STRING), CANARY",
      status: "INVALID_ARGUMENT",
    },
  },
};

describe.each(["openai", "anthropic", "google"] as const)("in the format %s", (format) => {
  test.each([false, true])("the client's own field and the cause are named (streamed: %p)", async (stream) => {
    const body = { model: `refusing/${format}`, stream, messages, tools };
    stubOf(format).answerOnce(json(schema[format], 400), json(last[format], 400));
    const cause = "The provider does not support this JSON schema";
    expect(await refused("/chat/completions", body)).toEqual({
      status: 400,
      code: "upstream_rejected",
      param: "tools[0].function.parameters",
      cause,
    });
    expect(await refused("/chat/completions", body)).toMatchObject({ code: "upstream_rejected", param: "messages[4].content" });
  });

  test("a completion's prompt is named", async () => {
    const prompt = { openai: "messages.0.content", anthropic: "messages.0.content.0.text", google: "contents[0].parts[0].text" }[
      format as "openai"
    ];
    const told = {
      error: { type: "invalid_request_error", message: `${prompt}: must not be empty CANARY`, status: "INVALID_ARGUMENT" },
    };
    stubOf(format).answerOnce(json(told, 400));
    const answer = await refused("/completions", { model: `refusing/${format}`, prompt: "Once upon a time" });
    expect(answer).toEqual({
      status: 400,
      code: "upstream_rejected",
      param: "prompt",
      cause: "The provider requires text that is not empty",
    });
  });
});

test("an error that comes as the first event of a stream is told in the same way", async () => {
  const event = { error: { message: "CANARY", type: "invalid_request_error", code: 400, param: "temperature" } };
  stubOf("openai").answerOnce(rawStream(`data: ${JSON.stringify(event)}\n\n`, "data: [DONE]\n\n"));
  const answer = await refused("/chat/completions", { model: "refusing/openai", stream: true, messages, temperature: 1.5 });
  expect(answer).toMatchObject({ status: 400, code: "upstream_rejected", param: "temperature" });
});

test("an embeddings request's input is named", async () => {
  stubOf("openai").answerOnce(
    json({ error: { message: "'$.input[1]' is invalid: CANARY too long", param: "input[1]", code: null } }, 400),
  );
  const answer = await refused("/embeddings", { model: "refusing/embed", input: ["one", "two"] });
  expect(answer).toMatchObject({ status: 400, code: "upstream_rejected", param: "input[1]" });
});

/** What is held covers what is sent: the bound has what a wire format adds to the client's own texts. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { checkChat, chatRequestFormat, checkRouted } from "../../../../src/gateway/api/request/chat-request.ts";
import { GatewayError } from "../../../../src/kernel/errors.ts";
import type { WireFormatName } from "../../../../src/gateway/models/model.ts";
import { inputTokensBound } from "../../../../src/gateway/models/chat-tokens.ts";
import { wireFormats } from "../../../../src/gateway/providers/registry.ts";
import { ManualClock } from "../../../support/clock.ts";
import { testGeneration } from "../../../support/providers/call.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { route } from "../../../support/providers/routes.ts";

const formats: WireFormatName[] = ["openai", "openai-responses", "anthropic", "google"];
const supports = ["tools", "json_schema"];
const modelOf = (format: WireFormatName) => chatModel(supports, { id: `acme/${format}`, routes: [route(format, { format })] });
const bytesOf = (value: unknown): number => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)));

const words = fc.constantFrom("", "A place", "\"'\\".repeat(50), "é".repeat(200), "d".repeat(3_000));
const leaf = fc.oneof(
  fc.record({ type: fc.constant("string"), pattern: words, description: words, title: words }, { requiredKeys: ["type"] }),
  fc.record({ type: fc.constantFrom("integer", "number"), minimum: fc.integer() }),
  fc.record({ enum: fc.array(fc.oneof(words, fc.integer()), { minLength: 1 }) }),
  fc.record({ $ref: fc.constantFrom("#/$defs/Part", "#/$defs/Part/properties/a", "#/$defs/Part/properties/a/properties/a") }),
);
const { schema, object } = fc.letrec<{ schema: object; object: object }>((tie) => ({
  schema: fc.oneof({ depthSize: "small" }, leaf, tie("object"), fc.record({ type: fc.constant("array"), items: tie("schema") })),
  object: fc.record(
    {
      type: fc.constant("object"),
      properties: fc.dictionary(fc.constantFrom("a", "b", "é", "n".repeat(500)), tie("schema"), { maxKeys: 4 }),
      required: fc.subarray(["a", "b"]),
      description: words,
    },
    { requiredKeys: ["properties"] },
  ),
}));
const Part = fc.record({ inner: leaf, description: words }).map(({ inner, description }) => ({
  properties: {
    a: { properties: { a: { type: "string", description } }, description },
    b: "$ref" in inner ? { type: "null" } : inner,
  },
}));
const root = fc
  .record({ one: object, variants: fc.option(fc.array(object, { minLength: 1, maxLength: 3 })), Part })
  .map(({ one, variants, Part: part }) => ({ ...one, ...(variants && { anyOf: variants }), $defs: { Part: part } }));
const tool = fc.record({ name: fc.constant("go"), parameters: root, strict: fc.boolean() }, { requiredKeys: ["name"] });
const call = (id: string, text: string) => ({ id, type: "function", function: { name: "go", arguments: text } });
const ids = fc.constantFrom("call_0", "call.0", "é", `call:${"x".repeat(40)}`, "é".repeat(200), `call/${"i".repeat(3_000)}`);
const numbers = fc
  .constantFrom("1e20", "-1.5E20", "1e-6", '"1e20"', "7")
  .chain((one) => fc.integer({ min: 0, max: 300 }).map((length) => Array.from({ length }, () => one)));
const request = fc
  .record(
    {
      id: ids,
      args: numbers,
      tools: fc.oneof(
        fc.array(tool, { minLength: 1, maxLength: 3 }),
        fc.constant(Array.from({ length: 100 }, () => ({ name: "go" }))),
      ),
      response_format: schema.chain((one) => Part.map((part) => ({ ...one, $defs: { Part: part } }))),
    },
    { requiredKeys: ["id", "args"] },
  )
  .map(({ id, args, tools, response_format }) => ({
    messages: [
      { role: "user", content: "Go" },
      { role: "assistant", content: null, tool_calls: [call(id, `{"n":[${args.join(",")}]}`)] },
      { role: "tool", tool_call_id: id, content: "gone" },
    ],
    ...(tools && { tools: tools.map((one) => ({ type: "function", function: one })) }),
    ...(response_format && { response_format: { type: "json_schema", json_schema: { name: "out", schema: response_format } } }),
  }));

test.each(formats)("%s: the bytes that are sent are within those that are held", (format) => {
  const model = modelOf(format);
  let sentOn = 0;
  fc.assert(
    fc.property(request, (fields) => {
      const chat = checked({ model: model.id, ...fields }, model);
      if (chat === null) return;
      sentOn++;
      const [used] = model.routes;
      if (!used) throw new Error("The model has no route");
      const call = { generation: testGeneration, route: used, chat: chat.body, maxOutputTokens: 100, streamed: false };
      expect(sentBytes(JSON.parse(wireFormats[format].format.encode(call).body))).toBeLessThanOrEqual(chat.inputTokens);
    }),
    { numRuns: 100 },
  );
  expect(sentOn).toBeGreaterThan(50);
});

interface Turn {
  content?: unknown;
  tool_calls?: { id: unknown }[];
  tool_call_id?: unknown;
  parts?: { functionCall?: { id: unknown; args: unknown }; functionResponse?: { id: unknown } }[];
}

interface Sent {
  messages?: Turn[];
  contents?: Turn[];
  input?: { call_id?: unknown }[];
  tools?: unknown;
  tool_choice?: unknown;
  response_format?: unknown;
  output_config?: { format?: unknown };
  text?: { format?: unknown };
  generationConfig?: { responseJsonSchema?: unknown };
}

interface Block {
  id?: unknown;
  tool_use_id?: unknown;
  input?: unknown;
}

/** The bytes of tools, formats, and the ids and arguments of calls: all that a model reads besides the texts. */
function sentBytes({ messages = [], contents = [], input: items = [], ...sent }: Sent): number {
  const blocks = messages.flatMap(({ content }): Block[] => (Array.isArray(content) ? content : []));
  const parts = contents.flatMap((turn) => turn.parts ?? []);
  const args = [...blocks.map(({ input }) => input), ...parts.map(({ functionCall }) => functionCall?.args)];
  const callIds = [
    ...messages.flatMap(({ tool_calls = [], tool_call_id }) => [...tool_calls.map(({ id }) => id), tool_call_id]),
    ...blocks.flatMap(({ id, tool_use_id }) => [id, tool_use_id]),
    ...parts.flatMap(({ functionCall, functionResponse }) => [functionCall?.id, functionResponse?.id]),
    ...items.map(({ call_id }) => call_id),
  ];
  const formats = [
    sent.response_format,
    sent.output_config?.format,
    sent.text?.format,
    sent.generationConfig?.responseJsonSchema,
  ];
  return [sent.tools, sent.tool_choice, ...formats, ...args, ...callIds].reduce<number>((sum, one) => sum + bytesOf(one), 0);
}

function checked(body: object, model: ReturnType<typeof chatModel>): ReturnType<typeof checkChat> | null {
  try {
    return checkChat(new TextEncoder().encode(JSON.stringify(body)), { find: () => model });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.code).toBe("unsupported_parameter");
    return null;
  }
}

test("a routed request holds for the model whose format adds most, though the models' rules are the same", async () => {
  const models = new Map(formats.map((format) => [`acme/${format}`, modelOf(format)]));
  const find = (id: string) => models.get(id) ?? null;
  const properties = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`f${index}`, { properties: { a: { type: "string" } } }]),
  );
  const tools = [{ type: "function", function: { name: "go", strict: true, parameters: { properties } } }];
  const check = async (named: string[]) => {
    const bytes = new TextEncoder().encode(
      JSON.stringify({ model: named[0], models: named, messages: [{ role: "user", content: "Go" }], tools }),
    );
    const routing = { find, providers: new Map() };
    return (await checkRouted(bytes, chatRequestFormat, { find, routing, clock: new ManualClock() })).chat;
  };
  const alone = await check(["acme/anthropic"]);
  const routed = await check(["acme/openai", "acme/anthropic"]);
  expect(alone.inputTokens).toBeGreaterThan(inputTokensBound(alone.body));
  expect(routed.inputTokens).toBe(alone.inputTokens);
});

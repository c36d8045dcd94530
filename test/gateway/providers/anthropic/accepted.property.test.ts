/** Whatever a client sends, a Claude of the catalog takes what is sent on, or the client learns which field it does not take. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { GatewayError } from "../../../../src/kernel/errors.ts";
import { checkChat } from "../../../../src/gateway/api/request/chat-request.ts";
import { readCatalog } from "../../../../src/gateway/models/catalog.ts";
import type { Model, Route } from "../../../../src/gateway/models/model.ts";
import { anthropic } from "../../../../src/gateway/providers/registry.ts";
import { testGeneration } from "../../../support/providers/call.ts";
import { claudeRefusal, claudeRules } from "../../../support/providers/strict-claude.ts";

const catalog = await readCatalog(join(import.meta.dir, "../../../../catalog-data"), { sandbox: false });
const claudes = [...catalog.models.values()].flatMap((model) => {
  const [route] = model.routes;
  return route?.provider.id === "anthropic" ? [{ model, route }] : [];
});

const text = fc.constantFrom("Hello", " ", "", "Weather?", "ok \n");
const value = fc.constantFrom<object>(
  { type: "string", maxLength: 5 },
  { type: "integer", minimum: 1 },
  { type: ["string", "null"], format: "byte" },
  { enum: ["a", "b"] },
  { const: 1 },
  { $ref: "#/$defs/Place" },
  { type: "array", items: { type: "number" }, minItems: 2 },
);
const { schema, object } = fc.letrec<{ schema: object; object: object }>((tie) => ({
  schema: fc.oneof({ depthSize: "small" }, value, tie("object")),
  object: fc.record(
    {
      type: fc.constantFrom<unknown>("object", ["object", "null"]),
      properties: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("schema"), { maxKeys: 3 }),
      additionalProperties: fc.constantFrom<unknown>(false, false, false, true, { type: "string" }),
      anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
      allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: ["type", "properties"] },
  ),
}));
/** The root of most schemas is an object. */
const root = fc
  .oneof({ weight: 1, arbitrary: schema }, { weight: 4, arbitrary: object })
  .map((one) => ({ ...one, $defs: { Place: { type: "object", properties: { city: { type: "string" } } } } }));
const tool = fc.record({
  type: fc.constant("function"),
  function: fc.record({ name: fc.constant("look"), parameters: root, strict: fc.boolean() }, { requiredKeys: ["name"] }),
});

/** The calls of one answer with their results, under ids that other answers use as well. */
const step = fc
  .record({ ids: fc.uniqueArray(fc.constantFrom("call_0", "functions.look:1", "toolu_x"), { minLength: 1 }), text })
  .map(({ ids, text: words }) => [
    {
      role: "assistant",
      content: words,
      tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "look", arguments: "{}" } })),
    },
    ...ids.map((id) => ({ role: "tool", tool_call_id: id, content: "rain" })),
  ]);
/** The same, of the model itself, which thought before it. */
const ownStep = fc.record({ signature: fc.base64String({ minLength: 4 }), sends: fc.boolean() });
type Step = object[] | { signature: string; sends: boolean };
const said = fc
  .record({ role: fc.constantFrom("system", "user", "assistant", "developer"), content: text })
  .map((one): Step => [one]);
/** Most conversations begin with words, without which they are refused. */
const begun = fc.constantFrom<Step>([{ role: "user", content: "Hello" }], [{ role: "system", content: "Be brief." }], []);
const conversation = fc
  .tuple(begun, fc.array(fc.oneof<fc.Arbitrary<Step>[]>(said, step, ownStep), { maxLength: 6 }))
  .map(([beginning, others]) => [beginning, ...others]);

const sampling = fc.record(
  { temperature: fc.constantFrom(0, 0.5, 1), top_p: fc.constantFrom(0.5, 0.97, 1) },
  { requiredKeys: [] },
);
const withTools = fc.record(
  {
    tools: fc.array(tool, { minLength: 1, maxLength: 2 }),
    tool_choice: fc.constantFrom<unknown>("auto", "none", "required", { type: "function", function: { name: "look" } }),
  },
  { requiredKeys: ["tools"] },
);
const nothing = fc.constant({});
const request = fc.record(
  {
    reasoning_effort: fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    max_tokens: fc.constantFrom(1, 1_024, 1_025, 2_000, 50_000),
    sampling: fc.oneof({ weight: 3, arbitrary: nothing }, { weight: 1, arbitrary: sampling }),
    choosing: fc.oneof({ weight: 1, arbitrary: nothing }, { weight: 1, arbitrary: withTools }),
    response_format: root.map((one) => ({ type: "json_schema", json_schema: { name: "a", schema: one } })),
    steps: conversation,
  },
  { requiredKeys: ["steps", "sampling", "choosing"] },
);

test("every Claude of the catalog has the vendor's rules", () => {
  expect(claudes.map(({ route }) => route.upstreamModel).toSorted()).toEqual(Object.keys(claudeRules).toSorted());
});

test.each(claudes.map((one) => [one.route.upstreamModel, one] as const))(
  "%s takes every request that is not refused by name",
  (_, claude) => {
    let sentOn = 0;
    fc.assert(
      fc.property(request, ({ steps, sampling: sampled, choosing, max_tokens: maxOutputTokens = 64_000, ...fields }) => {
        const messages = steps.flatMap((one, index) => (Array.isArray(one) ? one : ownMessages(one, index, claude.route)));
        const body = bodyOf({ ...fields, ...sampled, ...choosing, messages }, claude, maxOutputTokens);
        if (body === null) return;
        sentOn++;
        expect(claudeRefusal(body)).toBeNull();
      }),
      { numRuns: 100 },
    );
    expect(sentOn).toBeGreaterThan(15);
  },
);

/** An answer of the model with a thought and a call, as a client sends it back. */
function ownMessages({ signature, sends }: { signature: string; sends: boolean }, index: number, route: Route): object[] {
  const content = [
    { type: "thinking", thinking: "Hm.", signature },
    { type: "tool_use", id: `toolu_${index}`, name: "look", input: {} },
  ];
  const { message } = anthropic.decodeAnswer({ content, stop_reason: "tool_use" }, route);
  const [{ id } = { id: "" }] = message["tool_calls"] as { id: string }[];
  const { reasoning_content: _, ...rest } = message;
  return [sends ? message : rest, { role: "tool", tool_call_id: id, content: "rain" }];
}

/** What is sent to the provider; null: the client learns a field. */
function bodyOf(
  fields: object,
  { model, route }: { model: Model; route: Route },
  maxOutputTokens: number,
): Record<string, unknown> | null {
  const bytes = new TextEncoder().encode(JSON.stringify({ model: model.id, ...fields }));
  try {
    const { body: chat } = checkChat(bytes, { find: () => model });
    return JSON.parse(anthropic.encode({ generation: testGeneration, route, chat, maxOutputTokens, streamed: false }).body);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.param).toBeString();
    return null;
  }
}

/** The official package sends cache breakpoints, which it does not know, to a model in Anthropic's format. */
import { beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { message } from "../../support/providers/anthropic-answers.ts";
import { openPriceStage, type PriceStage } from "./stage.ts";

const model = "prices/caching";
const without = "prices/not-caching";
const cache_control = { type: "ephemeral" };
const usage = { input_tokens: 3, cache_read_input_tokens: 20, cache_creation_input_tokens: 10, output_tokens: 5 };
let stage: PriceStage;

beforeAll(async () => void (stage = await openPriceStage("claude", message("Hello", { usage }))), 60_000);

/** Fields that the package's types do not have, as its users write them. */
const request = {
  messages: [
    { role: "system" as const, content: [{ type: "text" as const, text: "Be brief.", cache_control }] },
    { role: "user" as const, content: [{ type: "text" as const, text: "Hello", cache_control }] },
  ],
  tools: [{ type: "function" as const, function: { name: "weather" }, cache_control }],
  cache_control,
};

test("breakpoints reach the provider, and what they cost is in the answer, in the log and in the charge", async () => {
  const { stub: claude, client, rowOf } = stage;
  for (const stream of [false, true]) {
    const before = claude.calls.length;
    const { data, response } = await client.chat.completions.create({ ...request, model, stream }).withResponse();
    if (!("choices" in data)) for await (const _ of data);
    else expect(data.usage?.prompt_tokens_details).toMatchObject({ cached_tokens: 20, cache_write_tokens: 10 });
    expect(claude.calls.slice(before).map(({ body }) => body)).toMatchObject([
      {
        cache_control,
        system: [{ type: "text", text: "Be brief.", cache_control }],
        tools: [{ name: "weather", cache_control }],
        messages: [{ role: "user", content: [{ type: "text", text: "Hello", cache_control }] }],
      },
    ]);
    // 3 × 3.00 + 20 × 0.30 + 10 × 3.75 + 5 × 15.00 USD per million
    expect(await rowOf(response)).toMatchObject({ prompt_tokens: 33, cache_write_tokens: 10, cost_usd: "0.000127500" });
  }
});

test("the package throws the error that names the breakpoint at a model that does not cache", async () => {
  const { stub: claude, client } = stage;
  const before = claude.calls.length;
  const error: unknown = await client.chat.completions.create({ ...request, model: without }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OpenAI.BadRequestError);
  expect(error).toMatchObject({ code: "unsupported_parameter", param: "messages[0].content[0].cache_control" });
  expect(claude.calls).toHaveLength(before);
});

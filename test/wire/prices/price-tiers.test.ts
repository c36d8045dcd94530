/** A model whose price depends on the length of the prompt, from the catalog to the log. */
import { beforeAll, expect, test } from "bun:test";
import { chat } from "../../support/providers/stub-answers.ts";
import { openPriceStage, type PriceStage } from "./stage.ts";

const model = "prices/tiers";
/** 200 bytes, 16 for the message and 64 hidden tokens: the request can reach every tier. */
const messages = [{ role: "user" as const, content: "word ".repeat(40) }];
let stage: PriceStage;

beforeAll(async () => void (stage = await openPriceStage("other", chat("Hello"))), 60_000);

test.each([
  { prompt: 50, tier: null, cost: "0.000070000" },
  { prompt: 51, tier: 50, cost: "0.000132000" },
  { prompt: 90, tier: 50, cost: "0.000210000" },
  { prompt: 91, tier: 90, cost: "0.000053000" },
])(
  "a prompt that its provider counts as $prompt tokens is charged whole in the tier above $tier",
  async ({ prompt, tier, cost }) => {
    const counts = { prompt_tokens: prompt, prompt_tokens_details: { cached_tokens: 30 } };
    const usage = { ...counts, completion_tokens: 10, total_tokens: prompt + 10 };
    const { stub, client, rowOf } = stage;
    for (const stream of [false, true]) {
      stub.answerOnce(chat("Hello there", { usage }));
      const { data, response } = await client.chat.completions.create({ model, messages, stream, max_tokens: 10 }).withResponse();
      if (!("choices" in data)) for await (const _ of data);
      const row = await rowOf(response);
      expect(row).toMatchObject({ prompt_tokens: prompt, tier_above_tokens: tier, cost_usd: cost });
      // 90 tokens in the tier above 50 cost more than 280 in the last.
      expect(row.reserved_usd).toBe("0.000210000");
    }
  },
);

test("GET /models lists the tiers", async () => {
  const listed: unknown = await stage.client.models.retrieve(model);
  expect(listed).toMatchObject({
    tiers: [
      { above_input_tokens: 50, input: "2.00", output: "3.00", cache_read: "2.00", cache_write: "2.00" },
      { above_input_tokens: 90, input: "0.50", output: "0.75" },
    ],
  });
});

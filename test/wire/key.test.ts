/** GET /key returns the facts of the calling key and its remaining credit, and GET /generation those of its requests, in both modes. */
import { beforeAll, describe, expect, test } from "bun:test";
import { chat } from "../support/gateway/requests.ts";
import { until } from "../support/until.ts";
import { modes, playable, stage, type Stage } from "./stage.ts";

const month = () => new Date().toISOString().slice(0, 7);

for (const mode of modes) {
  describe.skipIf(!playable(mode))(`${mode}, GET /key`, () => {
    let on: Stage;
    beforeAll(async () => void (on = await stage(mode)), 90_000);

    async function describeKey(key: string): Promise<Record<string, unknown>> {
      const response = await fetch(`${on.fleet.url()}/gpt/v1/key`, { headers: { authorization: `Bearer ${key}` } });
      expect(response.status).toBe(200);
      return ((await response.json()) as { data: Record<string, unknown> }).data;
    }

    test("the answer has the key's name, visible prefix, scope, limits, and amounts", async () => {
      const { keys } = await on.fleet.operator().customer({ credit: "10", keyLimit: "25.5", requestsPerMinute: 120 });
      const key = keys[0]?.key ?? "";
      expect(await describeKey(key)).toEqual({
        name: "key 0",
        prefix: key.slice(0, "platform-api-".length + 8),
        scopes: ["inference"],
        monthly_spend_limit_usd: "25.50",
        rate_limit_rpm: 120,
        available_credit_usd: 10,
        month_spent_usd: 0,
        month: month(),
      });
    });

    test("a key without limits has null for no spend limit, and for the default rate of 60", async () => {
      const { workspace } = await on.fleet.operator().customer({ credit: "1" });
      const fields = { workspace, owner: "owner@example.test" };
      const { key } = await on.fleet.operator().call<{ key: string }>("POST", "/keys", fields);
      const daily = { ...fields, daily_spend_limit_usd: "2.5" };
      const { key: bounded } = await on.fleet.operator().call<{ key: string }>("POST", "/keys", daily);
      expect(await describeKey(bounded)).toMatchObject({ daily_spend_limit_usd: "2.50" });
      expect(await describeKey(key)).toMatchObject({ name: "Untitled key", monthly_spend_limit_usd: null, rate_limit_rpm: null });
      const answer = await chat({ url: on.fleet.url(), key, body: { model: "sandbox/echo" } });
      expect(answer.headers.get("x-ratelimit-limit-requests")).toBe("60");
    });

    test("available is the balance minus the reservations of open requests; spent is the sum of the key's charges", async () => {
      const { keys } = await on.fleet.operator().customer({ credit: "1", keys: 2 });
      const [first = "", second = ""] = keys.map(({ key }) => key);
      const body = { model: "sandbox/echo", messages: [{ role: "user", content: "sandbox: usage=1000,500 delay_ms=500" }] };
      const running = chat({ url: on.fleet.url(), key: first, body });
      await until(async () => Number((await describeKey(first))["available_credit_usd"]) < 1);
      // At most 4,096 tokens of output at 2 USD a million, and a few of input at 1.
      expect(await describeKey(second)).toMatchObject({
        available_credit_usd: expect.closeTo(1 - 0.008_192, 3),
        month_spent_usd: 0,
      });
      expect((await running).status).toBe(200);
      await until(async () => (await describeKey(first))["available_credit_usd"] === 0.998);
      expect(await describeKey(first)).toMatchObject({ month_spent_usd: 0.002 });
      expect(await describeKey(second)).toMatchObject({ available_credit_usd: 0.998, month_spent_usd: 0 });
    });

    test("GET /generation shows an ended request to the key that made it, and to no other key of the workspace", async () => {
      const { keys } = await on.fleet.operator().customer({ credit: "1", keys: 2 });
      const [mine = "", other = ""] = keys.map(({ key }) => key);
      const client = on.client(mine);
      const messages = [{ role: "user" as const, content: "sandbox: usage=1000,500" }];
      const { response } = await client.chat.completions.create({ model: "sandbox/echo", messages }).withResponse();
      const id = response.headers.get("x-generation-id") ?? "";
      const find = (key: string) =>
        fetch(`${on.fleet.url()}/gpt/v1/generation?id=${id}`, { headers: { authorization: `Bearer ${key}` } });
      await until(async () => (await find(mine)).ok);
      expect(await client.get<unknown>("/generation", { query: { id } })).toEqual({
        data: {
          id,
          model: "sandbox/echo",
          provider_name: "sandbox",
          endpoint: "chat",
          streamed: false,
          created_at: expect.stringMatching(/Z$/),
          status: 200,
          code: null,
          cancelled: false,
          tokens_prompt: 1000,
          tokens_completion: 500,
          native_tokens_cached: 0,
          native_tokens_cache_write: 0,
          native_tokens_reasoning: 0,
          usage_estimated: false,
          total_cost: 0.002,
          is_byok: false,
          replayed_from: null,
          latency: expect.any(Number),
          generation_time: expect.any(Number),
        },
      });
      const refused = await find(other);
      expect([refused.status, await refused.json()]).toEqual([404, { detail: "Not Found" }]);
    });
  });
}

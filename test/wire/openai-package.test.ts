/** The official package works by changing address and key, against one process and against a fleet. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import type { LogRow } from "../support/operator.ts";
import { until } from "../support/until.ts";
import { Fleet } from "../support/fleet.ts";
import { testServices } from "../support/services.ts";

const services = await testServices();
const modes = { embedded: null, distributed: services?.urls ?? null } as const;
const messages = [{ role: "user" as const, content: "Hello from the package" }];

for (const [mode, urls] of Object.entries(modes)) {
  describe.skipIf(mode === "distributed" && urls === null)(`the openai package, ${mode}`, () => {
    const stack = new AsyncDisposableStack();
    let fleet: Fleet;
    let client: OpenAI;
    let workspace: string;

    beforeAll(async () => {
      fleet = stack.use(await Fleet.start({ services: urls, gateways: urls === null ? 1 : 2, workers: 2 }));
      const customer = await fleet.operator().customer({ credit: "1" });
      workspace = customer.workspace;
      client = new OpenAI({ baseURL: `${fleet.url()}/gpt/v1`, apiKey: customer.keys[0]?.key ?? "", maxRetries: 0 });
    }, 60_000);
    afterAll(() => stack.disposeAsync(), 30_000);

    test("chat.completions.create answers whole", async () => {
      const completion = await client.chat.completions.create({ model: "sandbox/echo", messages });
      expect(completion.id).toMatch(/^gen-[a-z2-7]{26}$/);
      expect(completion.model).toBe("sandbox/echo");
      expect(completion.choices[0]?.message.content).toBe("Hello from the package");
      expect(completion.usage?.total_tokens).toBe(12);
      expect(completion._request_id).toMatch(/^req-/);
    });

    test("chat.completions.create streams, with one id and one created for all chunks", async () => {
      const stream = await client.chat.completions.create({ model: "sandbox/echo", messages, stream: true });
      let text = "";
      const heads = new Set<string>();
      const reasons: string[] = [];
      for await (const chunk of stream) {
        heads.add(`${chunk.id} ${chunk.created} ${chunk.model}`);
        text += chunk.choices[0]?.delta.content ?? "";
        const reason = chunk.choices[0]?.finish_reason;
        if (reason) reasons.push(reason);
      }
      expect(text).toBe("Hello from the package");
      expect(heads.size).toBe(1);
      expect(reasons).toEqual(["stop"]);
    });

    test("the stream helper gives the final content and the usage that was asked for", async () => {
      const helper = client.chat.completions.stream({ model: "sandbox/echo", messages, stream_options: { include_usage: true } });
      expect(await helper.finalContent()).toBe("Hello from the package");
      expect((await helper.totalUsage()).completion_tokens).toBe(6);
    });

    test("a forced tool is called", async () => {
      const completion = await client.chat.completions.create({
        model: "sandbox/echo",
        messages,
        tools: [
          {
            type: "function",
            function: {
              name: "measure",
              parameters: { type: "object", properties: { depth: { type: "number" } }, required: ["depth"] },
            },
          },
        ],
        tool_choice: { type: "function", function: { name: "measure" } },
      });
      const [call] = completion.choices[0]?.message.tool_calls ?? [];
      expect(completion.choices[0]?.finish_reason).toBe("tool_calls");
      expect(call?.type === "function" && [call.function.name, JSON.parse(call.function.arguments)]).toEqual([
        "measure",
        { depth: 0 },
      ]);
    });

    test("models.list and models.retrieve", async () => {
      const { data } = await client.models.list();
      expect(data.map(({ id }) => id)).toContain("sandbox/echo");
      const model = await client.models.retrieve("sandbox/echo");
      expect(model).toMatchObject({ id: "sandbox/echo", object: "model", owned_by: "sandbox" });
    });

    test("refusals arrive as the package's own errors", async () => {
      const refused = await client.chat.completions
        .create({ model: "nobody/nothing", messages })
        .catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(OpenAI.NotFoundError);
      expect(refused).toMatchObject({ status: 404, code: "model_not_found", type: "invalid_request_error", param: "model" });
      const stranger = new OpenAI({ baseURL: `${fleet.url()}/gpt/v1`, apiKey: `platform-api-${"0".repeat(64)}`, maxRetries: 0 });
      const unknown = await stranger.models.list().catch((error: unknown) => error);
      expect(unknown).toBeInstanceOf(OpenAI.AuthenticationError);
      expect(unknown).toMatchObject({ status: 401, code: "invalid_api_key", type: "authentication_error", param: null });
    });

    test("a provider that fails in the middle of a stream makes the package throw, with our code", async () => {
      const failing = [{ role: "user" as const, content: "sandbox: tokens=20 break_after=3" }];
      const stream = await client.chat.completions.create({ model: "sandbox/echo", messages: failing, stream: true });
      const read = async () => {
        for await (const _chunk of stream);
      };
      expect(await read().catch((error: unknown) => error)).toMatchObject({ code: "upstream_error", type: "api_error" });
    });

    test("the request log says to the nano-dollar what each cost", async () => {
      let first: LogRow | undefined;
      await until(async () => (first = (await fleet.operator().log(`workspace=${workspace}&limit=100`)).at(-1)) !== undefined);
      expect(first).toMatchObject({
        model: "sandbox/echo",
        status: 200,
        prompt_tokens: 6,
        completion_tokens: 6,
        cost_usd: "0.000018000",
      });
    });
  });
}

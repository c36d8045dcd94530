/** The official client and its helpers, unchanged but for the address and the key. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { Fleet } from "../support/fleet.ts";
import { until } from "../support/until.ts";

const stack = new AsyncDisposableStack();
let fleet: Fleet;
let client: OpenAI;

beforeAll(async () => {
  fleet = stack.use(await Fleet.start({ services: null }));
  client = clientFor(await newKey());
}, 60_000);
afterAll(() => stack.disposeAsync());

async function newKey(requestsPerMinute = 10_000): Promise<string> {
  const { keys } = await fleet.operator().customer({ credit: "10", requestsPerMinute });
  return keys[0]?.key ?? "";
}

function clientFor(apiKey: string, maxRetries = 0): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${fleet.url()}/gpt/v1`, maxRetries });
}

/** The client's promises are lazy: what a call throws is known only by awaiting it. */
async function thrownBy(call: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  try {
    await call;
  } catch (error) {
    if (error instanceof OpenAI.APIError) return error;
    throw error;
  }
  throw new Error("The call succeeded");
}

const model = "sandbox/echo";
const ask = (content: string) => [{ role: "user" as const, content }];
const lookUp = {
  type: "function" as const,
  function: {
    name: "look_up",
    parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  },
};

describe("a whole answer", () => {
  test("has every field that the client's types promise", async () => {
    const { data, response, request_id } = await client.chat.completions
      .create({ model, messages: ask("Hello, weir") })
      .withResponse();
    expect(data).toMatchObject({
      object: "chat.completion",
      model,
      choices: [{ index: 0, finish_reason: "stop", logprobs: null }],
    });
    expect(data.choices[0]?.message).toEqual({ role: "assistant", content: "Hello, weir", refusal: null });
    expect(data.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 });
    expect(Math.abs(data.created - Date.now() / 1_000)).toBeLessThan(60);
    expect(data.id).toBe(response.headers.get("x-generation-id") ?? "");
    expect(request_id).toMatch(/^req-/);
  });

  test("is cut at max_tokens", async () => {
    const answer = await client.chat.completions.create({ model, messages: ask("one two three four"), max_completion_tokens: 2 });
    expect(answer.choices[0]?.finish_reason).toBe("length");
    expect(answer.usage?.completion_tokens).toBe(2);
  });

  test("calls the tool that it was told to call", async () => {
    const answer = await client.chat.completions.create({ model, messages: ask("Hi"), tools: [lookUp], tool_choice: "required" });
    expect(answer.choices[0]?.finish_reason).toBe("tool_calls");
    expect(answer.choices[0]?.message.tool_calls?.[0]).toMatchObject({ type: "function", function: { name: "look_up" } });
  });
});

describe("a stream", () => {
  test("is read chunk by chunk, each with the same id and time", async () => {
    const stream = await client.chat.completions.create({ model, messages: ask("Hello, weir"), stream: true });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe("Hello, weir");
    expect(new Set(chunks.map(({ id, created }) => `${id} ${created}`)).size).toBe(1);
    expect(chunks.every((chunk) => chunk.choices.length === 1 && !("usage" in chunk))).toBe(true);
    expect(chunks.filter((chunk) => chunk.choices[0]?.finish_reason === "stop")).toHaveLength(1);
  });

  test("satisfies the helper that puts it together, with usage", async () => {
    const stream = client.chat.completions.stream({
      model,
      messages: ask("Hello, weir"),
      stream_options: { include_usage: true },
    });
    expect(await stream.finalContent()).toBe("Hello, weir");
    expect((await stream.finalChatCompletion()).choices[0]?.finish_reason).toBe("stop");
    expect(await stream.totalUsage()).toMatchObject({ prompt_tokens: 3, completion_tokens: 3 });
  });

  test("carries tool calls that the helper puts together", async () => {
    const stream = client.chat.completions.stream({ model, messages: ask("Hi"), tools: [lookUp], tool_choice: "required" });
    const call = (await stream.finalMessage()).tool_calls?.[0];
    expect(call?.type === "function" && JSON.parse(call.function.arguments)).toEqual({ word: "" });
  });

  test("that breaks in the middle throws, after what had arrived", async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: ask("sandbox: tokens=50 break_after=5"),
      stream: true,
    });
    let chunks = 0;
    const reading = (async () => {
      for await (const _ of stream) chunks++;
    })();
    expect(await thrownBy(reading)).toMatchObject({ code: "upstream_error", type: "api_error" });
    expect(chunks).toBeGreaterThan(1);
  });

  test("that is left early is settled for what was produced", async () => {
    const { workspace, keys } = await fleet.operator().customer({ credit: "10" });
    const theirs = clientFor(keys[0]?.key ?? "");
    const stream = await theirs.chat.completions.create({ model, messages: ask("sandbox: tokens=4000 gap_ms=20"), stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    const row = async () => (await fleet.operator().log(`workspace=${workspace}`))[0];
    await until(async () => (await row()) !== undefined);
    expect(await row()).toMatchObject({ code: "client_gone", streamed: true, usage_estimated: true });
    expect((await row())?.completion_tokens).toBeLessThan(4_000);
  });
});

describe("the helper for tools", () => {
  test("calls back and sends the answer on", async () => {
    const words: string[] = [];
    const runner = client.chat.completions.runTools(
      {
        model,
        messages: ask("Hi"),
        tool_choice: { type: "function", function: { name: "look_up" } },
        tools: [
          {
            type: "function",
            function: {
              ...lookUp.function,
              description: "Looks a word up",
              parse: (text: string): { word: string } => JSON.parse(text),
              function: ({ word }: { word: string }) => {
                words.push(word);
                return "found";
              },
            },
          },
        ],
      },
      { maxChatCompletions: 1 },
    );
    await runner.done();
    expect(words).toEqual([""]);
    expect(runner.messages.at(-1)).toMatchObject({ role: "tool", content: "found" });
  });
});

describe("errors become the client's own classes", () => {
  test("401 for a wrong key", async () => {
    const error = await thrownBy(
      clientFor(`platform-api-${"0".repeat(64)}`).chat.completions.create({ model, messages: ask("Hi") }),
    );
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: "invalid_api_key", type: "authentication_error", requestID: null });
  });

  test("400 with the field's name", async () => {
    const error = await thrownBy(client.chat.completions.create({ model, messages: ask("Hi"), temperature: 3 }));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: "invalid_request", param: "temperature" });
  });

  test("404 for a model that is not there", async () => {
    const error = await thrownBy(client.chat.completions.create({ model: "acme/none", messages: ask("Hi") }));
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(await thrownBy(client.models.retrieve("acme/none"))).toMatchObject({ code: "model_not_found", param: "model" });
  });

  test("429 with a wait that the client honours", async () => {
    const limited = clientFor(await newKey(1));
    await limited.chat.completions.create({ model, messages: ask("Hi") });
    const error = await thrownBy(limited.chat.completions.create({ model, messages: ask("Hi") }));
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(Number(error.headers?.get("retry-after-ms"))).toBeLessThan(60_000);
    expect(error.headers?.get("x-should-retry")).toBe("true");
  });

  test.each([
    [500, 502, "upstream_error", "true"],
    [401, 502, "upstream_auth", "false"],
    [400, 400, "upstream_rejected", null],
    [429, 429, "upstream_rate_limited", "true"],
  ])("a provider's %p is our %p %s, with x-should-retry %p", async (provider, status, code, shouldRetry) => {
    const error = await thrownBy(client.chat.completions.create({ model, messages: ask(`sandbox: status=${provider}`) }));
    expect(error).toMatchObject({ status, code });
    expect(error.headers?.get("x-should-retry")).toBe(shouldRetry);
    expect(error.requestID).toMatch(/^req-/);
  });
});

describe("models", () => {
  test("are listed and shown, with the id as the client escapes it", async () => {
    const ids: string[] = [];
    for await (const listed of client.models.list()) ids.push(listed.id);
    expect(ids).toContain(model);
    expect(await client.models.retrieve(model)).toMatchObject({ id: model, object: "model", owned_by: "sandbox" });
  });
});

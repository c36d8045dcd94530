import { describe, expect, test } from "bun:test";
import { chatRequestFormat, checkChat, type CheckedChat, checkRouted } from "../../../../src/gateway/api/request/chat-request.ts";
import type { Model } from "../../../../src/gateway/models/model.ts";
import { GatewayError } from "../../../../src/kernel/errors.ts";
import { ManualClock } from "../../../support/clock.ts";
import { hello, tool, type Body } from "../../../support/gateway/check-chat.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { route } from "../../../support/providers/routes.ts";

const routes = ["A", "B", "C"].map((id) => route(id));
const models: Model[] = [
  chatModel(["tools"], { id: "acme/one", routes }),
  chatModel(["tools"], { id: "acme/two", routes: routes.slice(0, 1), maxOutputTokens: 100 }),
  chatModel([], { id: "acme/plain", routes: routes.slice(1, 2), defaultOnly: new Set(["temperature"]) }),
  chatModel(["reasoning"], { id: "acme/fixed", defaultOnly: new Set(["temperature"]) }),
  chatModel(["reasoning"], {
    id: "acme/samples",
    defaultOnly: new Set(["temperature"]),
    routes: [{ ...route("A"), samplesWithoutReasoning: true }],
  }),
  chatModel([], { id: "acme/vectors", kind: "embeddings" }),
  chatModel([], { id: "acme/abroad", routes: [route("claude", { format: "anthropic" })] }),
  chatModel(["tools"], { id: "acme/newer", routes: [route("C", { format: "openai-responses" })] }),
  chatModel([], { id: "acme/coming", listedAs: "coming_soon", routes: [] }),
];
const providers = new Map(["A", "B", "C", "idle", "claude"].map((id) => [id, route(id).provider]));
const find = (id: string): Model | null => models.find((model) => model.id === id) ?? null;

async function check(fields: Body): Promise<CheckedChat> {
  const bytes = new TextEncoder().encode(JSON.stringify({ model: "acme/one", messages: hello, ...fields }));
  const options = { find, routing: { find, providers }, clock: new ManualClock() };
  return (await checkRouted(bytes, chatRequestFormat, options)).chat;
}

async function refusalOf(fields: Body): Promise<GatewayError | null> {
  try {
    await check(fields);
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

describe("with routing on", () => {
  test.each<[Body, string]>([
    [{ models: "acme/two" }, "invalid_request models"],
    [{ models: {} }, "invalid_request models"],
    [{ models: [] }, "invalid_request models"],
    [{ models: Array.from({ length: 9 }, () => "acme/two") }, "invalid_request models"],
    [{ models: ["acme/two", 7] }, "invalid_request models[1]"],
    [{ models: ["acme/two", null] }, "invalid_request models[1]"],
    [{ models: [""] }, "invalid_request models[0]"],
    [{ models: ["a".repeat(257)] }, "invalid_request models[0]"],
    [{ models: ["acme/two", "custom:mine"] }, "unsupported_parameter models[1]"],
    [{ models: ["acme/vectors"] }, "invalid_request models[0]"],
    [{ provider: "A" }, "invalid_request provider"],
    [{ provider: ["A"] }, "invalid_request provider"],
    [{ provider: { order: "A" } }, "invalid_request provider.order"],
    [{ provider: { order: ["A", 1] } }, "invalid_request provider.order[1]"],
    [{ provider: { order: ["A", "X"] } }, "invalid_request provider.order[1]"],
    [{ provider: { order: Array.from({ length: 65 }, () => "A") } }, "invalid_request provider.order"],
    [{ provider: { only: "A" } }, "invalid_request provider.only"],
    [{ provider: { only: ["X"] } }, "invalid_request provider.only[0]"],
    [{ provider: { only: [] } }, "invalid_request provider.only"],
    [{ provider: { only: ["idle"] } }, "invalid_request provider.only"],
    [{ provider: { only: ["A"], ignore: ["A"] } }, "invalid_request provider.only"],
    [{ provider: { ignore: ["X"] } }, "invalid_request provider.ignore[0]"],
    [{ provider: { ignore: ["A", "B", "C"] } }, "invalid_request provider.ignore"],
    [{ provider: { sort: "throughput" } }, "invalid_request provider.sort"],
    [{ provider: { sort: 1 } }, "invalid_request provider.sort"],
    [{ provider: { sort: { by: "price" } } }, "unsupported_parameter provider.sort"],
    [{ provider: { allow_fallbacks: false } }, "unsupported_parameter provider.allow_fallbacks"],
    [{ provider: { zdr: true } }, "unsupported_parameter provider.zdr"],
    [{ provider: { max_price: {} } }, "unsupported_parameter provider.max_price"],
    [{ provider: { require_parameters: true } }, "unsupported_parameter provider.require_parameters"],
  ])("the gateway refuses %j", async (fields, expected) => {
    const error = await refusalOf(fields);
    expect(`${error?.code} ${error?.param}`).toBe(expected);
  });

  test("an unknown provider's message names the nearest id", async () => {
    expect((await refusalOf({ provider: { order: ["claud"] } }))?.message).toEndWith(
      "no provider with the id claud; the nearest id is claude",
    );
  });

  test.each<Body>([
    { models: null, provider: null },
    { provider: {} },
    { provider: { order: null, only: null, ignore: null, sort: null } },
    { provider: { order: ["idle"], ignore: ["idle"] } },
    { provider: { only: ["A", "idle"] } },
    { models: ["acme/unknown"] },
    { models: ["acme/two"], provider: { only: ["B"] } },
    { model: "acme/coming", provider: { only: ["A"] } },
  ])("the gateway takes %j", async (fields) => {
    expect(await refusalOf(fields)).toBeNull();
  });

  test("the models are model, then models, without repeats; each keeps the place where the request names it", async () => {
    const { routing } = await check({ models: ["acme/one", "acme/two", "acme/two", "acme/unknown"] });
    expect(routing?.models).toEqual([
      { id: "acme/one", field: "model" },
      { id: "acme/two", field: "models[1]" },
      { id: "acme/unknown", field: "models[3]" },
    ]);
  });

  test.each<[Body, string, string]>([
    [{ models: ["acme/plain"], tools: [tool] }, "unsupported_parameter tools", "acme/plain"],
    [{ models: ["acme/two"], max_tokens: 101 }, "invalid_request max_tokens", "acme/two"],
    [{ models: ["acme/newer"], max_tokens: 15 }, "invalid_request max_tokens", "acme/newer"],
    [{ models: ["acme/plain"], temperature: 0.5 }, "unsupported_parameter temperature", "acme/plain"],
    [
      { models: ["acme/abroad"], frequency_penalty: 1, model: "acme/unknown" },
      "unsupported_parameter frequency_penalty",
      "acme/abroad",
    ],
  ])("a model that cannot carry the request is refused, with its name: %j", async (fields, expected, model) => {
    const error = await refusalOf(fields);
    expect(`${error?.code} ${error?.param}`).toBe(expected);
    expect(error?.message).toContain(model);
  });

  test("a model that only or ignore leave without a provider need not carry the request", async () => {
    expect(await refusalOf({ models: ["acme/plain"], tools: [tool], provider: { ignore: ["B"] } })).toBeNull();
  });

  test("each model gets the body that it takes", async () => {
    const { routing, body } = await check({ models: ["acme/plain"], temperature: 1 });
    expect(routing?.bodies.get("acme/one")).toBe(body);
    expect(body).toMatchObject({ model: "acme/one", temperature: 1 });
    expect(routing?.bodies.get("acme/plain")).toEqual({ model: "acme/plain", messages: hello });
  });

  test("a temperature without reasoning is refused for the model that takes none at all", async () => {
    const fields = { model: "acme/samples", temperature: 0.2, reasoning_effort: "none" };
    expect(await refusalOf(fields)).toBeNull();
    expect(await refusalOf({ ...fields, models: ["acme/fixed"] })).toMatchObject({ param: "temperature" });
  });

  test("models with equal rules share one reading of the messages", async () => {
    const { routing, body, inputTokens } = await check({ models: ["acme/two", "acme/plain"] });
    expect(routing?.bodies.get("acme/two")).toEqual({ ...body, model: "acme/two" });
    expect(routing?.bodies.get("acme/two")?.messages).toBe(body.messages);
    expect(routing?.bodies.get("acme/plain")?.messages).not.toBe(body.messages);
    expect(inputTokens).toBe("Hello".length + 16);
  });

  test("a request without routing fields is checked as with routing off", async () => {
    expect((await check({})).routing).toBeUndefined();
  });
});

test("while the catalog cannot be read, no provider is refused as unknown", () => {
  const bytes = new TextEncoder().encode(JSON.stringify({ model: "a/b", messages: hello, provider: { order: ["X"] } }));
  const { routing } = checkChat(bytes, { find: () => null, routing: { find: () => null, providers: null } });
  expect(routing?.rules.order).toEqual(["X"]);
});

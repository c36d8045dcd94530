/** How an endpoint with a form of its own is read: its names, its models, its hints. */
import { describe, expect, test } from "bun:test";
import { chatFormat } from "../../../../src/gateway/api/answer/answer-format.ts";
import {
  checkRequest,
  checkRouted,
  knownFields,
  type CheckedPrompt,
  type ReadRequest,
  type RequestFormat,
} from "../../../../src/gateway/api/request/chat-request.ts";
import { supports } from "../../../../src/gateway/api/request/requested-model.ts";
import type { Model } from "../../../../src/gateway/models/model.ts";
import { apart, native } from "../../../../src/gateway/providers/provider.ts";
import { GatewayError } from "../../../../src/kernel/errors.ts";
import { ManualClock } from "../../../support/clock.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { route } from "../../../support/providers/routes.ts";

const claude = (id: string, supported: string[]) =>
  chatModel(supported, { id, routes: [route("claude", { format: "anthropic" })] });
const models = [
  claude("acme/one", ["verbosity"]),
  claude("acme/two", ["verbosity"]),
  claude("acme/mute", []),
  chatModel(["verbosity"], { id: "acme/other" }),
];
const find = (id: string): Model | null => models.find((model) => model.id === id) ?? null;
const providers = new Map(["acme", "claude"].map((id) => [id, route(id).provider]));

/** Its prompt is `lines`; the second item of a chat is the first line, since an instruction precedes it. */
function lines(answered: ReadRequest[] = []): RequestFormat {
  return {
    known: knownFields("lines", []).union(new Set(["max_output_tokens", "verbosity", "seed"])),
    promptField: "input",
    modelOf: (requested, known) => (known(requested) === null ? `acme/${requested}` : requested),
    readBody(model, { request, model: facts, ignored }) {
      const said = request["lines"] as string[];
      const speaks = supports(facts, "verbosity");
      if (request["verbosity"] !== undefined && !speaks) ignored?.add("verbosity");
      return {
        model,
        messages: [
          { role: "system", content: "Be brief." },
          ...said.map((content, item) => ({ role: "user", content, [apart]: { source: { item } } })),
        ],
        ...(request["seed"] !== undefined && { seed: request["seed"] }),
        [native]: { format: "openai-responses", body: { lines: said } },
      };
    },
    rules: ({ id }) => id === "acme/other",
    options: ({ request, model }) => ({
      streamed: false,
      includeUsage: true,
      includeCost: false,
      maxTokens: Math.min(Number(request["max_output_tokens"] ?? 10), model?.maxOutputTokens ?? Infinity),
      outputField: "max_output_tokens",
    }),
    clientPath: (_body, [first = "", index, ...rest]) =>
      first === "messages"
        ? ["lines", ...(Number(index) > 0 ? [String(Number(index) - 1)] : []), ...rest]
        : first === "seed"
          ? null
          : [first],
    answer: (read) => (answered.push(read), chatFormat),
  };
}

const bytesOf = (body: object) => new TextEncoder().encode(JSON.stringify({ model: "one", lines: ["Hi"], ...body }));

function check(body: object, answered: ReadRequest[] = []): CheckedPrompt {
  return checkRequest(bytesOf(body), lines(answered), { find });
}

function routed(body: object, answered: ReadRequest[] = []): Promise<CheckedPrompt> {
  return checkRouted(bytesOf(body), lines(answered), { find, routing: { find, providers }, clock: new ManualClock() });
}

function refusalOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, param, message } = error;
    return { code, param, message };
  }
}

test("the model has the catalog's id, and what the client called it is kept", () => {
  expect(check({}).chat).toMatchObject({ model: "acme/one", requested: "one", body: { model: "acme/one" } });
  expect(check({ model: "acme/one" }).chat).toMatchObject({ model: "acme/one", requested: "acme/one" });
});

test("the bound may be read by the model, and has the client's name", () => {
  const { chat } = check({ max_output_tokens: 1_000_000 });
  expect(chat).toMatchObject({ maxTokens: 4_096, outputField: "max_output_tokens", promptField: "input" });
});

test("a field that no endpoint of this form has is refused by name", () => {
  expect(refusalOf(() => check({ messages: [] }))).toMatchObject({ code: "unsupported_parameter", param: "messages" });
});

describe("a field that a route cannot express", () => {
  test("has the client's name, in the message too", () => {
    const format: RequestFormat = {
      ...lines(),
      readBody: (model) => ({
        model,
        messages: [
          { role: "user", content: "Hi" },
          { role: "function", content: "x" },
        ],
      }),
    };
    expect(refusalOf(() => checkRequest(bytesOf({}), format, { find }))).toEqual({
      code: "unsupported_parameter",
      param: "lines[0].role",
      message: expect.stringContaining("lines[0].role"),
    });
  });

  test("has no name if the client wrote none", () => {
    expect(refusalOf(() => check({ seed: 7 }))).toMatchObject({ code: "unsupported_parameter", param: null });
  });
});

describe("hints that are left out", () => {
  test("are told when the answer's form is made, which is once and last", async () => {
    const answered: ReadRequest[] = [];
    const { chat } = await routed({ verbosity: "low", models: ["acme/mute"] }, answered);
    expect(answered).toHaveLength(1);
    expect([...(answered[0]?.ignored ?? [])]).toEqual(["verbosity"]);
    expect(answered[0]?.chat).toBe(chat);
    expect(answered[0]?.request["verbosity"]).toBe("low");
    expect([...(chat.routing?.bodies.keys() ?? [])]).toEqual(["acme/one", "acme/mute"]);
  });

  test("are none if every model takes them", async () => {
    const answered: ReadRequest[] = [];
    await routed({ verbosity: "low", models: ["acme/two"] }, answered);
    expect(answered[0]?.ignored.size).toBe(0);
  });
});

test("models with equal rules share a body with its facts apart, and others get their own", async () => {
  const { chat } = await routed({ models: ["acme/two", "acme/other"] });
  const bodies = chat.routing?.bodies;
  expect(bodies?.get("acme/two")?.[native]).toBe(chat.body[native]);
  expect(bodies?.get("acme/two")?.messages).toBe(chat.body.messages);
  expect(bodies?.get("acme/two")?.messages[1]?.[apart]).toEqual({ source: { item: 0 } });
  expect(bodies?.get("acme/other")?.[native]).toEqual({ format: "openai-responses", body: { lines: ["Hi"] } });
  expect(bodies?.get("acme/other")?.[native]).not.toBe(chat.body[native]);
});

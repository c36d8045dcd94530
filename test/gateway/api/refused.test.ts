/** What is kept of a refusal: Weir's own words, the caller and the catalog's model, and no text of the request. */
import { describe, expect, test } from "bun:test";
import type { Caller } from "../../../src/gateway/admission/message.ts";
import { RefusedError } from "../../../src/gateway/admission/client.ts";
import type { Gateway } from "../../../src/gateway/api/gateway.ts";
import { errorAnswer } from "../../../src/gateway/api/error-answer.ts";
import { messagesFormat } from "../../../src/gateway/api/messages/request.ts";
import { modelNotFound } from "../../../src/gateway/api/models.ts";
import { refusedTo } from "../../../src/gateway/api/refused.ts";
import { chatRequestFormat, checkRequest, type RequestFormat } from "../../../src/gateway/api/request/chat-request.ts";
import { checkEmbedding } from "../../../src/gateway/api/request/embedding.ts";
import { rejectUnsupportedFields } from "../../../src/gateway/api/request/requested-model.ts";
import { responsesFormat } from "../../../src/gateway/api/responses/request.ts";
import type { RefusedCall } from "../../../src/gateway/refusals/refused-calls.ts";
import { asSent, GatewayError, keptMessageMax, keptParamMax } from "../../../src/kernel/errors.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { ManualClock } from "../../support/clock.ts";
import { aModel } from "../../support/providers/models.ts";

const canary = "canary of the request";
const known = aModel({ id: "acme/one" });
const find = (id: string) => (id === known.id ? known : null);
const caller = { hash: "h", record: { id: "key-1", workspace: "ws-1" } } as unknown as Caller;

/** What is answered to an error, and what is noted of it. */
async function answered(error: unknown): Promise<{ text: string; noted: RefusedCall }> {
  const calls: RefusedCall[] = [];
  const gateway = { log: silentLog, models: { find }, refused: { note: (call: RefusedCall) => void calls.push(call) } };
  const response = errorAnswer(error, gateway as unknown as Gateway, { endpoint: "chat" });
  const [noted] = calls;
  if (noted === undefined || calls.length > 1) throw new Error(`${calls.length} calls were noted`);
  return { text: await response.text(), noted };
}

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was refused");
}

const user = { role: "user", content: "Hello" };
const part = [{ role: "user", content: [{ type: canary }] }];

describe("a text of the request in an error", () => {
  const clock = new ManualClock();
  const messages = messagesFormat({ version: null });
  const asked = { model: known.id, max_tokens: 10 };
  const bodies: [string, RequestFormat, object][] = [
    ["the name of a field", chatRequestFormat, { ...asked, messages: [user], [canary]: 1 }],
    ["the name of a field of a message", chatRequestFormat, { ...asked, messages: [{ ...user, [canary]: 1 }] }],
    ["the type of a part", chatRequestFormat, { ...asked, messages: part }],
    ["the type of a block", messages, { ...asked, messages: part }],
    ["the type of a tool of Messages", messages, { ...asked, messages: [user], tools: [{ type: canary, name: "x" }] }],
    [
      "the id of a call without a result",
      messages,
      {
        ...asked,
        messages: [
          user,
          { role: "assistant", content: [{ type: "tool_use", id: "canary_of_the_request", name: "x", input: {} }] },
          user,
        ],
      },
    ],
    ["the type of an item", responsesFormat(clock), { model: known.id, input: [{ type: canary }] }],
    ["the type of a tool of Responses", responsesFormat(clock), { model: known.id, input: "Hello", tools: [{ type: canary }] }],
  ];

  test.each(bodies)("is answered and not kept: %s", async (_, format, body) => {
    const error = thrownBy(() => checkRequest(new TextEncoder().encode(JSON.stringify(body)), format, { find }));
    const { text, noted } = await answered(refusedTo(caller, error));
    expect(text).toMatch(/canary.of.the.request/);
    expect(text).not.toMatch(/[\uE000\uE001]/);
    expect(JSON.stringify(noted)).not.toContain("canary");
    expect(`${noted.message} ${noted.param}`).toContain("…");
    expect(noted).toMatchObject({ workspace: "ws-1", key: "key-1", model: "acme/one", status: 400 });
  });

  test("is not kept of a schema that the sandbox cannot satisfy, of embeddings, of an unknown model, or of one that a worker names", async () => {
    const schema = { type: "object", required: [canary], properties: { [canary]: { type: "string", pattern: "^x$" } } };
    const chat = {
      model: known.id,
      messages: [user],
      response_format: { type: "json_schema", json_schema: { name: "x", schema } },
    };
    const sandbox = { routes: known.routes.map((route) => ({ ...route, format: "sandbox" as const })) };
    const embedding = new TextEncoder().encode(JSON.stringify({ model: "nobody/none", input: "Hello", [canary]: 1 }));
    const worker = {
      kind: "refused",
      code: "model_not_found",
      param: "model",
      message: `There is no model with the id ${canary}`,
    } as const;
    for (const error of [
      thrownBy(() => rejectUnsupportedFields(chat as Parameters<typeof rejectUnsupportedFields>[0], sandbox)),
      thrownBy(() => checkEmbedding(embedding, { find })),
      modelNotFound(canary, "acme/one"),
      new RefusedError(worker, { model: canary }),
      new RefusedError({ kind: "refused", code: "model_unavailable", reason: "catalog_unreadable" }, { model: canary }),
    ]) {
      const { text, noted } = await answered(error);
      expect(text).toContain(canary);
      expect([JSON.stringify(noted).includes("canary"), noted.model]).toEqual([false, null]);
    }
    expect((await answered(modelNotFound(canary, "acme/one"))).noted.message).toBe(
      "Did you mean acme/one? There is no model with the id …",
    );
  });

  test("cannot end its own mark", () => {
    const { kept, message } = new GatewayError("invalid_request", { message: `It has ${asSent("a\uE001b\uE000c")} in it` });
    expect([kept.message, message]).toEqual(["It has … in it", "It has abc in it"]);
  });
});

describe("a refusal", () => {
  test("has its caller, its model and the wait that was answered", async () => {
    const refused = { kind: "refused", code: "rate_limited", message: "Too many", retryAfterMs: 1_234.5 } as const;
    const { noted } = await answered(refusedTo(caller, new RefusedError(refused, { model: known.id })));
    expect(noted).toMatchObject({
      key: "key-1",
      model: "acme/one",
      code: "rate_limited",
      message: "Too many",
      retryAfterMs: 1_235,
    });
  });

  test("of a wrong key has no caller, and neither has one that was checked by no one", async () => {
    const { noted } = await answered(new GatewayError("invalid_api_key"));
    expect(noted).toMatchObject({ workspace: null, key: null, code: "invalid_api_key", status: 401 });
  });

  test("by a mistake of ours has its caller and no text of the mistake", async () => {
    const { noted } = await answered(refusedTo(caller, new Error(canary)));
    expect(noted).toMatchObject({ key: "key-1", code: "internal_error", message: "An unexpected error occurred" });
  });
});

test("what is kept of an error is cut, also within a character", () => {
  const { message, param } = new GatewayError("invalid_request", {
    message: `${"x".repeat(keptMessageMax - 1)}😀`,
    param: "y".repeat(1_000),
  }).kept;
  expect([message.length, message.endsWith("\uFFFD"), param?.length]).toEqual([keptMessageMax, true, keptParamMax]);
});

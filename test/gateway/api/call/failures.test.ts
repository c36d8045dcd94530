/** When a provider refuses a request, the client learns which field of its own request is at fault, in our words. */
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { streamError, upstreamError } from "../../../../src/gateway/api/answer/upstream-errors.ts";
import {
  recordFailure,
  type FailureContext,
  nameRejectedField,
  nameRejectedInput,
} from "../../../../src/gateway/api/call/failures.ts";
import { firstEventMsMax } from "../../../../src/gateway/limits.ts";
import { dialectFrom } from "../../../../src/gateway/models/dialect.ts";
import type { ProviderRecord, WireFormatName } from "../../../../src/gateway/models/model.ts";
import type { EmbeddingInputs } from "../../../../src/gateway/providers/embedding.ts";
import { native, type ChatBody, type ProviderEvent } from "../../../../src/gateway/providers/provider.ts";
import { wireFormats } from "../../../../src/gateway/providers/registry.ts";
import { rejectionCauses, Rejection } from "../../../../src/gateway/providers/rejection.ts";
import { signedToolCallId } from "../../../../src/gateway/tool-call-id.ts";
import { silentLog, type Logger } from "../../../../src/kernel/log.ts";
import { given } from "../../../support/gateway/given-dispatch.ts";
import { body, bounded, rejected, type Sent } from "../../../support/gateway/rejected.ts";
import { candidate } from "../../../support/providers/candidates.ts";

describe("the field belongs to the client's request", () => {
  const name = fc.oneof(
    fc.constantFrom(
      "messages",
      "tools",
      "function",
      "parameters",
      "properties",
      "content",
      "0",
      "1",
      "99",
      "temperature",
      "CANARY",
      "body",
    ),
    fc.string({ maxLength: 12 }),
  );
  const path = fc.array(name, { maxLength: 12 }).map((names) => names.join("."));
  const formats = fc.constantFrom<WireFormatName>("openai", "anthropic", "google");

  test("whatever a provider writes, only names that the request has are shown, and few of them", () => {
    fc.assert(
      fc.property(formats, path, fc.string(), fc.array(name), (format, named, text, loc) => {
        const error = {
          message: `${named}: ${text} '${named}'`,
          param: named,
          detail: [{ loc, msg: text }],
          fieldViolations: [{ field: named }],
        };
        const { param, hint } = rejected(format, { error });
        expect(`${param} ${hint}`).not.toContain("CANARY");
        if (param === null) return;
        expect(param.length).toBeLessThanOrEqual(200);
        const found = param
          .match(/[^.[\]]+/g)
          ?.reduce<unknown>((value, one) => Reflect.get(Object(value), one), { ...body, max_tokens: 5_000 });
        expect([param, found === undefined]).toEqual([param, false]);
      }),
      { numRuns: 1_000 },
    );
  });

  test("names that a client would not expect in a path end it", () => {
    const odd = { "a\nb": { type: "string" }, ["k".repeat(65)]: { type: "string" } };
    const sent = { ...bounded, body: { ...body, response_format: odd } };
    const told = (param: string) => ({ error: { message: "x", param } });
    expect(rejected("openai", told("response_format.a\nb.type"), { sent }).param).toBe("response_format");
    expect(rejected("openai", told(`response_format.${"k".repeat(65)}`), { sent }).param).toBe("response_format");
  });

  test("what is no name is none, and is not written as one", () => {
    const loc = ["body", { toString: 1, valueOf: null }, ["messages"], null, "temperature"];
    expect(rejected("openai", { detail: [{ loc, msg: "Field required", type: "missing" }] }).param).toBe("temperature");
  });

  test("a body that is as deep and as wide as may be is read within bounds", () => {
    let deep: unknown = "x";
    for (let level = 0; level < 5_000; level++) deep = { error: deep };
    expect(rejected("openai", { error: deep }).param).toBeNull();
    expect(rejected("openai", { error: { message: "messages.".repeat(6_000), param: "[".repeat(60_000) } }).param).toBe(
      "messages",
    );
    expect(rejected("openai", { errors: Array.from({ length: 5_000 }, () => ({ message: "x" })) }).param).toBeNull();
  });
});

describe("a message is named only if it is known", () => {
  const told = (param: string) => ({ error: { message: "x", param } });
  const named = (param: string, messages: ChatBody["messages"], fields?: Partial<ProviderRecord>) =>
    rejected("openai", told(param), { sent: { ...bounded, body: { ...body, messages } }, fields }).param;
  const user = { role: "user", content: "Hello" };
  const system = { role: "system", content: "Be brief" };
  const silent = { role: "assistant", content: "" };

  test.each([
    ["an instruction moved to the front", [user, system, user]],
    ["instructions joined", [system, user, system]],
    ["an empty answer left out", [user, silent, user]],
  ])("chat completions with %s", (_, messages) => {
    expect(named("messages[1].content", messages)).toBe("messages");
    expect(named("messages[0]", messages)).toBe("messages");
  });

  test("chat completions with words of the model added before the user's", () => {
    const result = { role: "tool", tool_call_id: "call_a", content: "rain" };
    const dialect = { ...dialectFrom("openai"), userAfterTool: false };
    expect(named("messages[2].content", [user, result, user], { dialect })).toBe("messages");
  });

  test("chat completions as they came, or with other roles", () => {
    expect(named("messages[1].content", [{ ...system, role: "developer" }, user])).toBe("messages[1].content");
    expect(named("messages[0].role", [{ ...system, role: "developer" }, user])).toBe("messages[0].role");
  });

  test("parts of a content that was rewritten are not named", () => {
    const parts = ["a", "b"].map((text) => ({ type: "text", text }));
    const dialect = { ...dialectFrom("openai"), reasoningContent: "as_thinking_parts" as const };
    const said = { role: "assistant", content: parts, reasoning_content: "Hm" };
    expect(named("messages[1].content[1].text", [user, said])).toBe("messages[1].content[1].text");
    expect(named("messages[1].content[1].text", [user, said], { dialect })).toBe("messages[1].content");
  });

  test("no part is named of an answer whose thoughts may have been sent", () => {
    const id = signedToolCallId("toolu_1", { signer: "acme_echo", base64: "c2ln" });
    const calling = { role: "assistant", content: "Look", tool_calls: [{ id, function: { name: "weather", arguments: "{}" } }] };
    const result = { role: "tool", tool_call_id: id, content: "rain" };
    const messages = [user, calling, result];
    const sent = { ...bounded, body: { ...body, messages } };
    expect(rejected("anthropic", told("messages.1.content.2.tool_use.input"), { sent }).param).toBe("messages[1]");
    expect(rejected("anthropic", told("messages.2.content.0.tool_result.content"), { sent }).param).toBe("messages[2].content");
    const twice = { ...bounded, body: { ...body, messages: [user, { role: "assistant", content: "Wait" }, calling, result] } };
    expect(rejected("anthropic", told("messages.1.content.2.tool_use.input"), { sent: twice }).param).toBe("messages");
  });
});

describe("a provider that names many fields", () => {
  /** How often the calls of the conversation are read when the provider names the messages from 0 on. */
  function readings(format: WireFormatName, list: string, { count = 1, inputTokens = 100 } = {}) {
    let reads = 0;
    const messages = body.messages.map((message) => {
      const { tool_calls, ...rest } = message;
      return Object.defineProperty(rest, "tool_calls", { enumerable: true, get: () => (reads++, tool_calls) });
    });
    const errors = Array.from({ length: count }, (_, index) => ({ message: "x", param: `${list}[${index}]` }));
    const { param } = rejected(
      format,
      { error: { message: "x", errors } },
      { sent: { ...bounded, inputTokens, body: { ...body, messages } } },
    );
    return { reads, param };
  }
  const lists: [WireFormatName, string][] = [
    ["openai", "messages"],
    ["openai-responses", "input"],
    ["anthropic", "messages"],
    ["google", "contents"],
  ];

  test.each(lists)("has the conversation converted once: %s", (format, list) => {
    const { reads, param } = readings(format, list);
    expect(param).toStartWith("messages[");
    expect(reads).toBeGreaterThan(0);
    expect(readings(format, list, { count: 100 }).reads).toBe(reads);
  });

  test.each(lists)("is not followed into a prompt above 1 MiB: %s", (format, list) => {
    expect(readings(format, list, { count: 100, inputTokens: 1024 * 1024 + 1 })).toEqual({ reads: 0, param: "messages" });
  });

  test("is believed for eight of them, each once", () => {
    const details = ["seed", "stop", "seed", "tools.0", ...Array.from({ length: 400 }, (_, index) => `messages.${index}`)];
    const { paths } = rejected("openai", { error: { message: "x", details: details.map((field) => ({ field })) } });
    expect(paths.map((path) => path.join("."))).toEqual([
      "seed",
      "stop",
      "tools.0",
      ...Array.from({ length: 5 }, (_, index) => `messages.${index}`),
    ]);
  });
});

test("the prompt of a completion is its field prompt, and its bound has its own name", () => {
  const prompt: ChatBody = { model: "acme/one", messages: [{ role: "user", content: "Once upon a time" }] };
  const sent = { body: prompt, maxTokens: 16, promptField: "prompt", inputTokens: 100, promptEstimate: () => 100 } as const;
  const tooLong = { error: { message: "maximum context length ... in the completion", code: "context_length_exceeded" } };
  expect(rejected("openai", { error: { message: "x", param: "messages.0.content" } }, { sent }).param).toBe("prompt");
  expect(rejected("openai", tooLong, { sent }).param).toBe("prompt");
  expect(rejected("openai", tooLong, { sent: { ...sent, outputField: "max_tokens" } }).param).toBe("max_tokens");
});

test("a prompt that is longer than the context is at fault, whatever output was asked for", () => {
  const tooLong = { error: { message: "maximum context length (200000 in the messages, 5000 in the completion)" } };
  const named = (tokens: number) => rejected("openai", tooLong, { sent: { ...bounded, promptEstimate: () => tokens } }).param;
  expect([named(127_999), named(128_000)]).toEqual(["max_tokens", "messages"]);
});

describe("a request of another form", () => {
  const clientPath = (_body: ChatBody, [first = "", index, ...rest]: readonly string[]) =>
    first === "messages" ? ["input", ...(index === undefined ? [] : [String(Number(index) + 10)]), ...rest] : null;
  const sent: Sent = { ...bounded, promptField: "input", outputField: "max_output_tokens", clientPath };
  const of = (param: string, more: Partial<Sent> = {}, format: WireFormatName = "openai") =>
    rejected(format, { error: { message: "x", param } }, { sent: { ...sent, ...more } }).param;

  test("has the client's names of prompt and bound, and no name for what the client did not write", () => {
    expect(of("messages.1.content")).toBe("input[11].content");
    expect(of("max_completion_tokens")).toBe("max_output_tokens");
    expect(of("temperature")).toBeNull();
  });

  test("whose prompt is too long by itself has the client's name of it", () => {
    const tooLong = { error: { message: "maximum context length (200000 in the messages, 5000 in the completion)" } };
    const named = (tokens: number) => rejected("openai", tooLong, { sent: { ...sent, promptEstimate: () => tokens } }).param;
    expect([named(127_999), named(128_000)]).toEqual(["max_output_tokens", "input"]);
  });

  describe("that its own API got as it is", () => {
    const own = {
      format: "openai-responses",
      body: { input: [{ role: "user", content: "Hi" }], max_output_tokens: 5_000 },
    } as const;
    const body: ChatBody = { ...bounded.body, [native]: own };

    test("has the field that the API names, if the client wrote it", () => {
      expect(of("input[0].content", { body }, "openai-responses")).toBe("input[0].content");
      expect(of("input[1].content", { body }, "openai-responses")).toBe("input");
      expect(of("temperature", { body }, "openai-responses")).toBeNull();
    });

    test("has its own names of prompt and bound where we find the reason", () => {
      const tooLong = { error: { message: "maximum context length (200000 in the messages, 5000 in the completion)" } };
      const named = (tokens: number) =>
        rejected("openai-responses", tooLong, { sent: { ...sent, body, promptEstimate: () => tokens } }).param;
      expect([named(127_999), named(128_000)]).toEqual(["max_output_tokens", "input"]);
    });

    test("is named by the chat at every other API", () => {
      expect(of("messages.1.content", { body })).toBe("input[11].content");
    });
  });
});

describe("embeddings", () => {
  const texts = (...all: string[]): EmbeddingInputs => ({ kind: "texts", texts: all });

  test.each<[WireFormatName, string, EmbeddingInputs, string | null]>([
    ["openai", "input", texts("a"), "input"],
    ["openai", "input[1]", texts("a", "b"), "input[1]"],
    ["openai", "input.7", texts("a", "b"), "input"],
    ["openai", "output_dimension", texts("a"), "dimensions"],
    ["openai", "texts", texts("a"), "input"],
    ["openai", "user", texts("a"), null],
    ["google", "requests[1].content", texts("a", "b"), "input[1]"],
    ["google", "outputDimensionality", texts("a"), "dimensions"],
  ])("in the format %s, %s is the field of the request", (format, field, inputs, param) => {
    const refused = wireFormats[format].format.classify(
      400,
      JSON.stringify({ error: { message: "x", details: [{ fieldViolations: [{ field }] }] } }),
    );
    nameRejectedInput(refused, { inputs, dimensions: 256, inputType: null });
    expect(refused instanceof Rejection && refused.param).toBe(param);
  });
});

test("the page of rare cases has each cause with its sentence", async () => {
  const page = await Bun.file(join(import.meta.dir, "../../../../docs/internals/inference.md")).text();
  const rows = [...page.matchAll(/^\| `([a-z_]+)` +\| (The|Each) (.+?) +\|$/gm)].map(([, cause, ...words]) => [
    cause,
    words.join(" "),
  ]);
  expect(Object.fromEntries(rows)).toMatchObject(rejectionCauses);
});

describe("what the client gets", () => {
  const refused = rejected("openai", { error: { message: "CANARY", param: "temperature", code: "unsupported_value" } });
  const { route } = candidate("acme");

  test("the cause at the end of the message, and the field as param", () => {
    const { code, param, message } = upstreamError(refused, route);
    expect([code, param]).toEqual(["upstream_rejected", "temperature"]);
    expect(message).toEndWith(`: ${rejectionCauses.unsupported_value}`);
    expect(message).not.toContain("CANARY");
  });

  test("in a stream that has started, the same under the code of all its failures", () => {
    const { code, type, param, message } = streamError(refused);
    expect([code, type, param]).toEqual(["upstream_error", "api_error", "temperature"]);
    expect(message).toBe(upstreamError(refused, route).message);
  });

  test("a refusal that comes after the response has started has its field too", async () => {
    const late = rejected("openai", { error: { message: "x", param: "seed", code: "unsupported_value" } });
    late.param = null;
    const refusing = Promise.withResolvers<never>();
    const { outcome, clock } = given([refusing.promise], {
      streamed: true,
      onFailed: (told, candidate) => nameRejectedField(told, bounded, candidate),
    });
    await Promise.resolve();
    clock.advance(firstEventMsMax);
    const opened = await outcome;
    if (opened.kind !== "stream") throw new Error(`It is ${opened.kind}`);
    refusing.reject(late);
    const [event] = await new Promise<readonly ProviderEvent[]>((take) => opened.events.next({ take }));
    if (event?.kind !== "failure") throw new Error("It has not failed");
    expect(streamError(event.failure)).toMatchObject({ code: "upstream_error", param: "seed" });
  });

  test("our log has the name of the cause, and no field of the client", () => {
    const lines: unknown[] = [];
    const log = { ...silentLog, warn: (facts: unknown) => void lines.push(facts) } as unknown as Logger;
    const recorders = {
      log,
      health: { recordFailure: () => {} },
      ownKeys: { refused: () => {} },
      serviceKeys: { refused: () => {} },
    };
    const context = {
      reservation: { generation: "gen-a" },
      lifecycle: { stop: {} },
      clientSignal: {},
    } as unknown as FailureContext;
    recordFailure(context, { candidate: candidate("acme"), failure: refused }, recorders);
    expect(lines).toMatchObject([{ event: "upstream.failed", code: "upstream_rejected", cause: "unsupported_value" }]);
    expect(JSON.stringify(lines)).not.toContain("temperature");
  });
});

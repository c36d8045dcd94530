/**
 * The contract of every wire format, checked with recorded answers: test/fixtures/<format>/answers.json, streams.json with
 * streams/<case>.chunks.txt (the data of one event a line) and errors.json. `CANARY` marks text of the provider.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ReportedUsage } from "../../src/gateway/models/model.ts";
import { UpstreamFailure, type ProviderCall, type ProviderEvent, type WireFormat } from "../../src/gateway/providers/provider.ts";
import { rejectionCauses } from "../../src/gateway/providers/rejection.ts";
import { EventSequence } from "../../src/gateway/providers/transport/events.ts";
import { Transcript } from "../support/providers/transcript.ts";
import { aRoute } from "../support/providers/models.ts";

interface AnswerCase {
  body: unknown;
  expected?: {
    content: string | null;
    refusal: string | null;
    reasoning?: string;
    finishReason: string;
    usage: ReportedUsage | null;
    toolCalls?: unknown;
  };
  failure?: string;
}

interface StreamCase {
  text: string;
  finishReason: string | null;
  usage: ReportedUsage | null;
  failure?: string;
  /** The last event of a stream without a finish reason; default: `end`. */
  last?: string;
  refusal?: string;
  reasoning?: string;
  toolCalls?: unknown;
}

interface ErrorCase {
  name: string;
  status: number;
  body: string;
  code: string;
  hint?: string;
}

const canary = "CANARY";
const key = "sk-the-secret-key";
const generation = "gen-abcdefghijklmnopqrstuvwxyz";

export function providerContract(name: string, format: WireFormat): void {
  const folder = join(import.meta.dir, "../fixtures", name);
  describe(`the format ${name}`, () => {
    encodes(format);
    decodesAnswers(format, fixture(folder, "answers.json"));
    decodesStreams(format, folder, fixture(folder, "streams.json"));
    classifies(format, fixture(folder, "errors.json"));
  });
}

/** The fixtures belong to this repository and have the caller's shape. */
function fixture<Shape>(folder: string, file: string): Shape {
  return JSON.parse(readFileSync(join(folder, file), "utf8")) as Shape;
}

function call(changes: Partial<ProviderCall> = {}): ProviderCall {
  const chat = {
    model: "stub/model",
    messages: [{ role: "user", content: "How are you?" }],
    user: "customer-7",
    metadata: { a: "label-9" },
  };
  return { generation, route: aRoute(), chat, maxOutputTokens: 321, streamed: false, ...changes };
}

function encodes(format: WireFormat): void {
  test.each([false, true])(
    "the request has the prompt, the provider's name of the model and the reserved bound (streamed: %p)",
    (streamed) => {
      const { path, headers, body } = format.encode(call({ streamed }));
      expect(path).toStartWith("/");
      expect(JSON.parse(body)).toBeObject();
      expect(path + body).toContain("stub-model");
      expect(body).toContain("How are you?");
      expect(body).toMatch(/\b321\b/);
      expect(JSON.stringify(headers) + body).not.toContain("stub/model");
    },
  );

  test("the request does not contain the client's labels of its own customers", () => {
    const { headers, body } = format.encode(call());
    expect(JSON.stringify(headers) + body).not.toMatch(/customer-7|label-9/);
  });

  test("Weir's key is only in the format's own headers", () => {
    expect(JSON.stringify(format.authorization(key))).toContain(key);
    expect(JSON.stringify(format.encode(call()))).not.toContain(key);
  });

  test("the format does not change the given request", () => {
    const given = call({ streamed: true });
    const before = JSON.stringify(given.chat);
    format.encode(given);
    expect(JSON.stringify(given.chat)).toBe(before);
  });
}

function decodesAnswers(format: WireFormat, cases: Record<string, AnswerCase>): void {
  test.each(Object.entries(cases))("the format decodes an answer: %s", (_, { body, expected, failure }) => {
    if (failure)
      return expectFailure(
        failureOf(() => format.decodeAnswer(body)),
        failure,
      );
    const { message, finishReason, usage } = format.decodeAnswer(body);
    expect(message.role).toBe("assistant");
    expect(message).toMatchObject({ content: expected?.content ?? null, refusal: expected?.refusal ?? null });
    expect<unknown>(message["reasoning_content"]).toEqual(expected?.reasoning);
    expect(message["tool_calls"]).toEqual(expected?.toolCalls);
    expect<unknown>({ finishReason, usage }).toEqual({ finishReason: expected?.finishReason, usage: expected?.usage });
  });
}

function decodesStreams(format: WireFormat, folder: string, cases: Record<string, StreamCase>): void {
  test.each(Object.entries(cases))("the format decodes a stream: %s", (name, expected) => {
    const sequence = new EventSequence(format.streamDecoder());
    const lines = readFileSync(join(folder, "streams", `${name}.chunks.txt`), "utf8")
      .split("\n")
      .slice(0, -1);
    const events: ProviderEvent[] = [];
    const isOver = lines.some((line) => sequence.take(line, events));
    if (!isOver && sequence.finishSeen) sequence.end(events);
    const transcript = new Transcript();
    for (const event of events) transcript.take(event);
    expect(transcript.text).toBe(expected.text);
    expect(transcript.refusal).toBe(expected.refusal ?? "");
    expect(transcript.reasoning).toBe(expected.reasoning ?? "");
    expect<unknown>(transcript.toolCalls).toEqual(expected.toolCalls ?? []);
    expect<unknown>(transcript.finishReasons).toEqual(expected.finishReason === null ? [] : [expected.finishReason]);
    expect(transcript.usage).toEqual(expected.usage);
    if (expected.failure) expectFailure(transcript.failure, expected.failure);
    else expect<string | null>(transcript.last).toBe(expected.last ?? "end");
  });
}

function classifies(format: WireFormat, cases: ErrorCase[]): void {
  test.each(cases.map((one) => [one.name, one] as const))(
    "the format classifies an error: %s",
    (_, { status, body, code, hint }) => {
      const failure = format.classify(status, body);
      expectFailure(failure, code);
      if (hint) expect(failure.hint).toContain(hint);
      else expect<(string | null)[]>([null, ...Object.values(rejectionCauses)]).toContain(failure.hint);
    },
  );

  test("an error never contains the provider's text, whatever its status", () => {
    for (let status = 400; status < 600; status++) {
      for (const { body } of cases) {
        const { code, detail, hint } = shown(format.classify(status, body));
        expect(`${code} ${detail} ${hint}`).not.toContain(canary);
      }
    }
  });
}

function shown(failure: UpstreamFailure) {
  return { code: failure.code, detail: failure.message, hint: failure.hint };
}

function expectFailure(failure: UpstreamFailure | null, code: string): void {
  expect<string | undefined>(failure?.code).toBe(code);
  expect(`${failure?.message} ${failure?.hint}`).not.toContain(canary);
}

function failureOf(act: () => unknown): UpstreamFailure | null {
  try {
    act();
  } catch (error) {
    if (error instanceof UpstreamFailure) return error;
    throw error;
  }
  return null;
}

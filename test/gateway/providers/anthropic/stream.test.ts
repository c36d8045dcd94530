import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { anthropic } from "../../../../src/gateway/providers/registry.ts";
import { UpstreamFailure, type ProviderEvent } from "../../../../src/gateway/providers/provider.ts";
import { EventParser } from "../../../../src/gateway/providers/transport/events.ts";
import { messageEvents } from "../../../support/providers/anthropic-answers.ts";
import { Transcript } from "../../../support/providers/transcript.ts";

const folder = join(import.meta.dir, "../../../fixtures/anthropic/streams");
const recorded = readdirSync(folder).map((file) => ({
  name: file.replace(".chunks.txt", ""),
  data: readFileSync(join(folder, file), "utf8").split("\n").slice(0, -1),
}));

/** What the decoder returns for these bytes, up to the end or the failure. */
function eventsOf(...pieces: Uint8Array[]): ProviderEvent[] {
  const parser = new EventParser();
  const decode = anthropic.streamDecoder();
  const events: ProviderEvent[] = [];
  for (const data of [...pieces.flatMap((piece) => parser.feed(piece)), ...parser.end()]) {
    const last = events.at(-1)?.kind;
    if (last !== "end" && last !== "failure") events.push(...decode(data));
  }
  return events;
}

/** The same with each failure as its message, since a comparison treats all errors as equal. */
function told(...pieces: Uint8Array[]): unknown[] {
  return eventsOf(...pieces).map((event) => {
    if (event.kind !== "failure") return event;
    const { code, hint, message } = event.failure;
    return { kind: "failure", code, hint, message };
  });
}

function split(bytes: Uint8Array, cuts: number[]): Uint8Array[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((one, other) => one - other), bytes.length];
  return places.slice(1).map((to, index) => bytes.subarray(places[index], to));
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const lines = {
  "named events": (data: string) => `event: ${/"type":"(\w+)"/.exec(data)?.[1] ?? "message"}\ndata: ${data}\n\n`,
  "no names, CRLF and no space": (data: string) => `data:${data}\r\n\r\n`,
  "comments in between": (data: string) => `: keep-alive\n\ndata: ${data}\n\n`,
};

const input = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3, noNullPrototype: true });
const answers = fc.record({
  text: fc.string({ unit: "grapheme", maxLength: 20 }),
  calls: fc.array(fc.record({ id: fc.stringMatching(/^toolu_[a-z0-9]{4}$/), name: fc.stringMatching(/^[a-z]{1,9}$/), input }), {
    maxLength: 3,
  }),
  usage: fc.record({
    input_tokens: fc.integer({ min: 1, max: 999 }),
    cache_read_input_tokens: fc.nat(999),
    cache_creation_input_tokens: fc.nat(999),
    output_tokens: fc.integer({ min: 1, max: 999 }),
  }),
});

test("all of an answer arrives, for every content and every split", () => {
  fc.assert(
    fc.property(
      answers,
      fc.array(fc.nat(4_000), { maxLength: 20 }),
      fc.constantFrom(...Object.values(lines)),
      (answer, cuts, line) => {
        const bytes = bytesOf(
          messageEvents(answer.text, answer)
            .map((event) => line(JSON.stringify(event)))
            .join(""),
        );
        const transcript = new Transcript();
        for (const event of eventsOf(...split(bytes, cuts))) transcript.take(event);
        const { usage } = answer;
        const { input_tokens: fresh, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage;
        expect(transcript.last).toBe("end");
        expect(transcript.text).toBe(answer.text);
        expect(transcript.toolCalls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) }))).toEqual(
          answer.calls.map(({ id, name, input: given }) => ({ id, name, arguments: JSON.parse(JSON.stringify(given)) })),
        );
        expect<unknown>(transcript.finishReasons).toEqual([answer.calls.length > 0 ? "tool_calls" : "stop"]);
        expect(transcript.usage).toEqual({
          promptTokens: fresh + read + written,
          cachedTokens: read,
          cacheWriteTokens: written,
          completionTokens: usage.output_tokens,
          reasoningTokens: 0,
        });
      },
    ),
    { numRuns: 500 },
  );
});

test("the decoder never throws and returns nothing after the end, whatever a provider sends", () => {
  const kinds = fc.constantFrom(
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
  );
  const anything = fc.oneof(
    fc.json(),
    fc.string(),
    fc
      .tuple(
        kinds,
        fc.object({ key: fc.constantFrom("index", "delta", "content_block", "message", "usage", "type", "text", "input") }),
      )
      .map(([type, rest]) => JSON.stringify({ ...rest, type })),
  );
  fc.assert(
    fc.property(fc.array(anything, { maxLength: 12 }), (data) => {
      const decode = anthropic.streamDecoder();
      for (const one of data) {
        const events = decode(one);
        const ends = events.findIndex(({ kind }) => kind === "end" || kind === "failure");
        if (ends === -1) continue;
        expect(ends).toBe(events.length - 1);
        return;
      }
    }),
    { numRuns: 500 },
  );
});

test("an error's text appears in no event and in no log", () => {
  for (const { data } of recorded) {
    for (const event of told(bytesOf(data.map(lines["named events"]).join("")))) {
      expect(JSON.stringify(event)).not.toContain("CANARY");
    }
  }
});

test("failures have the same detail in our log", () => {
  const [event] = anthropic.streamDecoder()('{"type":"error","error":{"type":"overloaded_error","message":"CANARY"}}');
  expect(event?.kind === "failure" && event.failure).toBeInstanceOf(UpstreamFailure);
  expect(event?.kind === "failure" && event.failure.message).toBe("status 200: overloaded_error");
});

describe("calls of servers that are not Anthropic's", () => {
  const decoded = (...events: object[]): Transcript => {
    const decode = anthropic.streamDecoder();
    const transcript = new Transcript();
    for (const event of events) for (const one of decode(JSON.stringify(event))) transcript.take(one);
    return transcript;
  };
  const begun = (index: number, name: unknown, input: unknown = {}) => ({
    type: "content_block_start",
    index,
    content_block: { type: "tool_use", id: `toolu_${String(name)}`, name, input },
  });
  const argued = (index: number, partial_json: string) => ({
    type: "content_block_delta",
    index,
    delta: { type: "input_json_delta", partial_json },
  });
  const closed = (index: number) => ({ type: "content_block_stop", index });
  const finish = [{ type: "message_delta", delta: { stop_reason: "tool_use" } }, { type: "message_stop" }];
  const call = (name: string, text: string) => ({ id: `toolu_${name}`, name, arguments: text });

  test("stay apart where every block has the same number", () => {
    const blocks = ["a", "b", "c"].flatMap((name) => [begun(0, name), argued(0, `{"x":"${name}"}`), closed(0)]);
    expect(decoded(...blocks, ...finish).toolCalls).toEqual(["a", "b", "c"].map((name) => call(name, `{"x":"${name}"}`)));
  });

  test("have their arguments where the end of a block is not told", () => {
    const blocks = [begun(0, "a"), begun(1, "b", { x: 1 }), begun(1, "c")];
    const { toolCalls, last, finishReasons } = decoded(...blocks, ...finish);
    expect(toolCalls).toEqual([call("a", "{}"), call("b", '{"x":1}'), call("c", "{}")]);
    expect<unknown>({ last, finishReasons }).toEqual({ last: "end", finishReasons: ["tool_calls"] });
  });

  test("may have their input as a text", () => {
    const inputs = ["", '{"x":1}', null];
    const blocks = inputs.flatMap((input, index) => [begun(index, `f${index}`, input), closed(index)]);
    expect(decoded(...blocks, ...finish).toolCalls.map((one) => one.arguments)).toEqual(["{}", '{"x":1}', "{}"]);
    const content = inputs.map((input) => ({ type: "tool_use", id: "toolu_1", name: "f", input }));
    const { message } = anthropic.decodeAnswer({ content, stop_reason: "tool_use" });
    expect(message["tool_calls"]).toMatchObject(["{}", '{"x":1}', "{}"].map((text) => ({ function: { arguments: text } })));
  });

  test.each([null, "", 7, undefined])("without a name (%p) are a failure, since no client could run them", (name) => {
    expect(decoded(begun(0, name)).failure).toMatchObject({ code: "upstream_error" });
    const content = [{ type: "tool_use", id: "toolu_1", name, input: {} }];
    expect(() => anthropic.decodeAnswer({ content, stop_reason: "tool_use" })).toThrow(UpstreamFailure);
  });
});

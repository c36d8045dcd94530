/** What a call that wants thoughts gets from every transport of an answer: its pieces, in the model's order. */
import { describe, expect, test } from "bun:test";
import {
  type AnswerPiece,
  type AnswerWants,
  type ProviderEvent,
  type WholeAnswer,
  type WireFormat,
} from "../../../../src/gateway/providers/provider.ts";
import { openai } from "../../../../src/gateway/providers/registry.ts";
import { assembledAnswer } from "../../../../src/gateway/providers/transport/other-forms.ts";
import { ProviderStream } from "../../../../src/gateway/providers/transport/stream.ts";
import { UpstreamCall } from "../../../../src/gateway/providers/transport/upstream-call.ts";
import { withParallelToolCallsOff } from "../../../../src/gateway/providers/wire/answers.ts";
import { ManualClock } from "../../../support/clock.ts";
import { CountingBody } from "../../../support/providers/counting-body.ts";
import { OneByOne } from "../../../support/providers/one-by-one.ts";

const wants: AnswerWants = { thoughts: true };
const stop = { reason: "tool_use", sequence: null };
const said = (delta: Record<string, unknown>): AnswerPiece => ({ kind: "delta", delta, finishReason: null });
const call = (index: number, id: string) => ({ index, id, type: "function", function: { name: "f", arguments: "{}" } });
const thought: AnswerPiece = { kind: "thought", seal: "S", redacted: false };
const pieces = [
  said({ reasoning_content: "hm" }),
  thought,
  said({ content: "So:" }),
  said({ tool_calls: [call(0, "a")] }),
  said({ tool_calls: [call(1, "b")] }),
];
const message: WholeAnswer["message"] = {
  role: "assistant",
  content: "So:",
  refusal: null,
  reasoning_content: "hm",
  tool_calls: [call(0, "a"), call(1, "b")].map(({ index: _index, ...rest }) => rest),
};

/** Its streams say one event as JSON; its whole answer is always the same. It has pieces for those who want thoughts. */
const told: WireFormat = {
  ...openai,
  decodeAnswer: (_body, _route, wanted) => ({
    message,
    finishReason: "tool_calls",
    logprobs: null,
    usage: null,
    ...(wanted && { stop, pieces }),
  }),
  streamDecoder: (_route, wanted) => (data) => {
    if (data === "[DONE]") return [{ kind: "end" }];
    const event: ProviderEvent = JSON.parse(data);
    return event.kind === "thought" && !wanted ? [] : [event];
  },
};

const ending: ProviderEvent = { kind: "delta", delta: {}, finishReason: "tool_calls", stop };
const line = (event: ProviderEvent): string => `data: ${JSON.stringify(event)}\n\n`;
const stream = [...[...pieces, ending].map(line), "data: [DONE]\n\n"].join("");

async function streamed(body: string, wanted?: AnswerWants, format = told): Promise<ProviderEvent[]> {
  const clock = new ManualClock();
  const clocks = { connectMs: 5_000, firstByteMs: 600_000, idleMs: 300_000, streamMs: 900_000 };
  const upstream = new UpstreamCall({ clock, clocks, startedAt: clock.monotonic() });
  await upstream.post(new CountingBody([body]).transport, new URL("http://provider.example/v1"), { headers: {}, body: "{}" });
  const events = new OneByOne(new ProviderStream({ upstream, format, wants: wanted, clock }));
  const all: ProviderEvent[] = [];
  for (let event = await events.next(); event !== null; event = await events.next()) all.push(event);
  return all;
}

describe("a stream", () => {
  test("has thoughts between its deltas only if they are wanted", async () => {
    expect(await streamed(stream, wants)).toEqual([...pieces, ending, { kind: "end" }]);
    expect((await streamed(stream)).map(({ kind }) => kind)).not.toContain("thought");
  });

  test("has the pieces of the whole answer that came in its place, and its ending once", async () => {
    expect(await streamed("{}", wants)).toEqual([...pieces, ending, { kind: "end" }]);
  });

  test("has that answer as one delta if nobody wants its pieces", async () => {
    const [first, ...rest] = await streamed("{}");
    expect(first).toMatchObject({
      kind: "delta",
      delta: { content: "So:", reasoning_content: "hm" },
      finishReason: "tool_calls",
    });
    expect(rest).toEqual([{ kind: "end" }]);
  });
});

describe("a whole answer that is assembled from a stream", () => {
  test("has its pieces and the model's own word for its stop", async () => {
    const answer = await assembledAnswer(stream, told.streamDecoder(undefined, wants), wants);
    expect(answer).toMatchObject({ message, finishReason: "tool_calls", stop });
    expect(answer.pieces).toEqual([...pieces, ending as AnswerPiece]);
  });

  test("has no pieces if nobody wants them", async () => {
    expect(await assembledAnswer(stream, told.streamDecoder())).not.toHaveProperty("pieces");
  });
});

describe("one call at a time", () => {
  const format = withParallelToolCallsOff(told, { model: "m", messages: [], parallel_tool_calls: false });
  const kept = pieces.slice(0, -1);

  test("is what is left of the pieces of a whole answer", () => {
    const answer = format.decodeAnswer({}, undefined, wants);
    expect(answer.pieces).toEqual(kept);
    expect(answer.message["tool_calls"]).toHaveLength(1);
    expect(format.decodeAnswer({})).not.toHaveProperty("pieces");
  });

  test("is what is left of a stream, with its thoughts", async () => {
    expect(await streamed(stream, wants, format)).toEqual([...kept, ending, { kind: "end" }]);
  });
});

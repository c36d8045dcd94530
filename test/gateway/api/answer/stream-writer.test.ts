/** What an endpoint with a form of its own gets from a stream. */
import { describe, expect, test } from "bun:test";
import type { StreamWriter } from "../../../../src/gateway/api/answer/answer-format.ts";
import { streamCommentMs, upstreamAnswerBytesMax } from "../../../../src/gateway/limits.ts";
import {
  OversizedAnswer,
  UpstreamFailure,
  type FinishReason,
  type ProviderEvent,
  type StopWord,
} from "../../../../src/gateway/providers/provider.ts";
import { settled } from "../../../support/clock.ts";
import { end, FakeEvents, finish, text } from "../../../support/providers/fake-events.ts";
import { allOf, charged, openRelay } from "../../../support/providers/open-relay.ts";

const thought: ProviderEvent = { kind: "thought", seal: "S", redacted: false };
const broken: ProviderEvent = { kind: "failure", failure: new UpstreamFailure("upstream_error", "by the test") };

/** Writes a line for each call. */
const plain: StreamWriter = {
  begin: () => "begin\n",
  delta: (delta) => `delta ${JSON.stringify(delta)}\n`,
  thought: ({ seal, redacted }) => `thought ${seal} ${redacted}\n`,
  complete: ({ reason, stop }, usage) => `complete ${reason} ${JSON.stringify(stop)} ${usage.completionTokens}\n`,
  fail: ({ code }, usage) => `fail ${code} ${usage.completionTokens}\n`,
  keepAlive: "alive\n",
};

async function linesOf(events: ProviderEvent[], writer: StreamWriter = plain): Promise<string[]> {
  const { stream } = openRelay({ events: new FakeEvents(events), options: { writer } });
  return (await allOf(stream)).trimEnd().split("\n");
}

const stopped = (finishReason: FinishReason, stop?: StopWord): ProviderEvent => ({
  kind: "delta",
  delta: {},
  finishReason,
  stop,
});
const word = (reason: string): StopWord => ({ reason, sequence: null });

test("a stream has a beginning, its pieces and one ending, with the charged usage", async () => {
  expect(await linesOf([text("Hi"), finish(), end])).toEqual([
    "begin",
    'delta {"content":"Hi"}',
    `complete stop null ${charged.completionTokens}`,
  ]);
});

test("a complete answer without pieces begins before it ends, and one that fails before its first piece does not begin", async () => {
  expect(await linesOf([end])).toEqual(["begin", "complete stop null 7"]);
  expect(await linesOf([broken])).toEqual(["fail upstream_error 7"]);
});

test("a failure in the middle is the last line, and one behind the finish reason is none", async () => {
  expect(await linesOf([text("Hi"), broken])).toEqual(["begin", 'delta {"content":"Hi"}', "fail upstream_error 7"]);
  expect(await linesOf([text("Hi"), finish("length"), broken])).toEqual([
    "begin",
    'delta {"content":"Hi"}',
    "complete length null 7",
  ]);
});

describe("thoughts", () => {
  test("stand between the pieces, also first and behind the finish reason", async () => {
    expect(await linesOf([thought, text("Hi"), finish(), { ...thought, redacted: true }, end])).toEqual([
      "begin",
      "thought S false",
      'delta {"content":"Hi"}',
      "thought S true",
      "complete stop null 7",
    ]);
  });

  test("do not even begin the stream of an endpoint that shows none", async () => {
    const { thought: _thought, ...without } = plain;
    expect(await linesOf([thought, broken], without)).toEqual(["fail upstream_error 7"]);
  });

  test("change no byte of a chat completion", async () => {
    const chat = (events: ProviderEvent[]) => allOf(openRelay({ events: new FakeEvents(events), includeUsage: true }).stream);
    expect(await chat([thought, text("Hi"), thought, finish(), end])).toBe(await chat([text("Hi"), finish(), end]));
  });

  test("do not end the stream, whose provider is stopped if the client leaves behind one", async () => {
    const events = new FakeEvents([text("Hi"), thought]);
    const { stream, outcomes } = openRelay({ events, options: { writer: plain } });
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    await settled();
    events.give(text("more".repeat(1_000)));
    await settled();
    expect(outcomes).toMatchObject([{ how: "client_gone" }]);
    expect(events.closed).toBe(true);
  });
});

describe("the model's own word for its stop", () => {
  test.each<[ProviderEvent[], string]>([
    [[stopped("stop", word("end_turn"))], 'stop {"reason":"end_turn","sequence":null}'],
    [[stopped("stop", { reason: "stop_sequence", sequence: "END" })], 'stop {"reason":"stop_sequence","sequence":"END"}'],
    [
      [stopped("length", word("max_tokens")), stopped("stop", word("end_turn"))],
      'length {"reason":"max_tokens","sequence":null}',
    ],
    [[stopped("stop", word("end_turn")), stopped("length")], "length null"],
    [[stopped("stop"), stopped("stop", word("pause_turn"))], 'stop {"reason":"pause_turn","sequence":null}'],
    [[stopped("stop", word("end_turn")), stopped("stop", word("pause_turn"))], 'stop {"reason":"end_turn","sequence":null}'],
  ])("is that of the strongest reason: %j", async (events, told) => {
    expect((await linesOf([...events, end])).at(-1)).toBe(`complete ${told} 7`);
  });

  test("says nothing where the answer contradicts it", async () => {
    const call: ProviderEvent = {
      kind: "delta",
      delta: { tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "{}" } }] },
      finishReason: null,
    };
    expect((await linesOf([call, stopped("stop", word("end_turn")), end])).at(-1)).toBe("complete tool_calls null 7");
  });
});

describe("a quiet stream", () => {
  const quiet = (writer: StreamWriter) => {
    const events = new FakeEvents();
    return { ...openRelay({ events, options: { writer, quiet: true } }), events };
  };

  test("is kept open before it begins", async () => {
    const { events, stream } = quiet(plain);
    events.give(text("Hi"), finish(), end);
    expect(await allOf(stream)).toBe('alive\nbegin\ndelta {"content":"Hi"}\ncomplete stop null 7\n');
  });

  test("begins first if its form says so, and only once", async () => {
    const { events, stream, clock } = quiet({ ...plain, beginsFirst: true });
    const all = allOf(stream);
    await settled();
    clock.advance(streamCommentMs);
    await settled();
    events.give(text("Hi"), finish(), end);
    expect(await all).toBe('begin\nalive\nalive\ndelta {"content":"Hi"}\ncomplete stop null 7\n');
  });
});

describe("a writer that holds the answer for its end", () => {
  const holding = (events: ProviderEvent[]) => {
    let held = 0;
    const writer: StreamWriter = {
      ...plain,
      delta: () => ((held += upstreamAnswerBytesMax / 2), "delta\n"),
      thought: () => ((held += upstreamAnswerBytesMax / 2), "thought\n"),
      get held() {
        return held;
      },
    };
    const source = new FakeEvents(events);
    return { source, ...openRelay({ events: source, options: { writer } }) };
  };

  test.each([
    ["text", text("more")],
    ["thought", thought],
  ])("ends with an error at a %s too many, and stops the provider", async (_, more) => {
    const { source, stream, outcomes } = holding([text("a"), text("b"), more, text("never")]);
    expect((await allOf(stream)).trimEnd().split("\n").at(-1)).toBe("fail upstream_error 7");
    expect(outcomes).toMatchObject([{ how: "failed", failure: expect.any(OversizedAnswer) }]);
    expect(source.closed).toBe(true);
    expect(source.cancelledAfterEnd).toBe(false);
  });

  test("completes at its bound", async () => {
    const { stream } = holding([text("a"), text("b"), finish(), end]);
    expect(await allOf(stream)).toEndWith("complete stop null 7\n");
  });
});

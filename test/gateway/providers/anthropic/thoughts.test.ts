import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { thoughtsCharactersMax } from "../../../../src/gateway/limits.ts";
import type { Route } from "../../../../src/gateway/models/model.ts";
import type { ModelEntry } from "../../../../src/gateway/models/schema.ts";
import { anthropic } from "../../../../src/gateway/providers/registry.ts";
import type { ChatMessage } from "../../../../src/gateway/providers/provider.ts";
import { blockEvents } from "../../../support/providers/anthropic-answers.ts";
import { testGeneration } from "../../../support/providers/call.ts";
import { aRoute } from "../../../support/providers/models.ts";
import { Transcript } from "../../../support/providers/transcript.ts";

type Block = Record<string, unknown>;

const claude = route({ thinking: "adaptive" });
const thinking = (text: string, signature: string): Block => ({ type: "thinking", thinking: text, signature });
const redacted: Block = { type: "redacted_thinking", data: "ZW5jcnlwdGVk" };
const said = (text: string): Block => ({ type: "text", text });
const use = (id: string, name = "look"): Block => ({ type: "tool_use", id, name, input: { at: id } });
const question: ChatMessage = { role: "user", content: "Weather?" };
const first = [thinking("I need the weather.", "c2lnbmF0dXJl+/8="), use("toolu_a")];

function route(entry: Partial<ModelEntry>, provider = "stub"): Route {
  const one = aRoute({ format: "anthropic" }, entry);
  return { ...one, provider: { ...one.provider, id: provider } };
}

/** The message that a client gets of a whole answer. */
function answered(blocks: Block[], by: Route = claude): ChatMessage {
  return anthropic.decodeAnswer({ id: "msg_1", content: blocks, stop_reason: "tool_use" }, by).message;
}

/** The same of a stream. */
function streamed(blocks: Block[], by: Route = claude): ChatMessage {
  const decode = anthropic.streamDecoder(by);
  const transcript = new Transcript();
  for (const event of blockEvents(blocks)) for (const one of decode(JSON.stringify(event))) transcript.take(one);
  const { text, reasoning, toolCalls } = transcript;
  return {
    role: "assistant",
    content: text === "" ? null : text,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    tool_calls: toolCalls.map(({ id, ...called }) => ({ id, type: "function", function: called })),
  };
}

function results(message: ChatMessage): ChatMessage[] {
  const calls = (message["tool_calls"] ?? []) as { id: string }[];
  return calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "rain" }));
}

interface Sent {
  headers: Record<string, string>;
  thinking: unknown;
  /** The blocks of each turn of the model. */
  turns: Block[][];
  results: unknown[];
}

function sent(messages: ChatMessage[], chat: object = { reasoning_effort: "high" }, to: Route = claude): Sent {
  const call = {
    generation: testGeneration,
    route: to,
    chat: { model: "stub/model", messages, ...chat },
    maxOutputTokens: 8_000,
  };
  const { headers, body } = anthropic.encode({ ...call, streamed: false });
  const told: { thinking?: unknown; messages: { role: string; content: Block[] }[] } = JSON.parse(body);
  const of = (role: string) => told.messages.filter((turn) => turn.role === role).map(({ content }) => content);
  return {
    headers,
    thinking: told.thinking,
    turns: of("assistant"),
    results: of("user").flatMap((content) => content.flatMap(({ tool_use_id }) => tool_use_id ?? [])),
  };
}

/** What is sent after the answer and the results of its calls. */
function afterwards(message: ChatMessage, chat?: object, to?: Route): Sent {
  return sent([question, message, ...results(message)], chat, to);
}

describe.each([
  ["whole", answered],
  ["streamed", streamed],
])("an answer that was %s", (_, answer) => {
  test.each<[string, Block[]]>([
    ["a thought", first],
    ["a thought without its summary", [thinking("", "c2ln"), use("toolu_a")]],
    ["an encrypted thought", [redacted, use("toolu_a")]],
    ["several thoughts", [thinking("One. ", "YQ=="), redacted, thinking("Two.", "Yg=="), use("toolu_a")]],
    ["a text after the thought", [thinking("Hm.", "YQ=="), said("Let me look."), use("toolu_a")]],
    ["a thought after the text", [said("Let me look."), thinking("Hm.", "YQ=="), use("toolu_a")]],
    ["calls at once", [thinking("Both.", "YQ=="), use("toolu_a"), use("toolu_b")]],
    [
      "thoughts and texts between the calls",
      [thinking("One.", "YQ=="), said("A. "), use("toolu_a"), thinking("Two.", "Yg=="), said("B."), use("toolu_b")],
    ],
    ["characters beyond the basic plane", [thinking("😀 hm", "YQ=="), said("😀"), use("toolu_a")]],
  ])("with %s comes back to the model block by block", (_, blocks) => {
    const { turns, results: answeredCalls } = afterwards(answer(blocks));
    expect(turns).toEqual([blocks]);
    expect(answeredCalls).toEqual(blocks.flatMap(({ id }) => id ?? []));
  });

  test("without a thought has the provider's own ids", () => {
    const { tool_calls: calls } = answer([said("Let me look."), use("toolu_a")]);
    expect((calls as { id: string }[]).map(({ id }) => id)).toEqual(["toolu_a"]);
  });

  test("whose thoughts are too large has the provider's own ids", () => {
    const large = answer([
      thinking("Hm.", "A".repeat(thoughtsCharactersMax)),
      use("toolu_a"),
      thinking("Hm.", "YQ=="),
      use("toolu_b"),
    ]);
    const ids = (large["tool_calls"] as { id: string }[]).map(({ id }) => id);
    expect(ids[0]).toBe("toolu_a");
    expect(ids[1]).toStartWith("toolu_b.sig.");
    expect(afterwards(large).turns[0]?.filter(({ type }) => type === "tool_use")).toHaveLength(2);
  });
});

describe("a thought whose text did not come back as it was", () => {
  const message = answered([thinking("I need the weather.", "YQ=="), said("Let me look."), use("toolu_a")]);

  test.each([
    ["is missing", undefined],
    ["is null", null],
    ["was shortened", "I need"],
  ])("is sent without it: the reasoning %s", (_, reasoning) => {
    expect(afterwards({ ...message, reasoning_content: reasoning }).turns).toEqual([
      [thinking("", "YQ=="), said("Let me look."), use("toolu_a")],
    ]);
  });

  test("keeps its place before a text that the client has changed", () => {
    expect(afterwards({ ...message, content: "I look." }).turns).toEqual([
      [thinking("I need the weather.", "YQ=="), said("I look."), use("toolu_a")],
    ]);
    const parts = [said("Let me "), said("look.")];
    expect(afterwards({ ...message, content: parts }).turns).toEqual([
      [thinking("I need the weather.", "YQ=="), ...parts, use("toolu_a")],
    ]);
  });

  test("loses no text that the client has added", () => {
    const silent = answered(first);
    const [thought, call] = first;
    for (const more of [{ content: "Added." }, { content: [said("Added.")] }, { refusal: "Added." }]) {
      expect(afterwards({ ...silent, ...more }).turns).toEqual([[thought ?? {}, said("Added."), call ?? {}]]);
    }
  });
});

describe("a thought goes to nobody else", () => {
  const message = answered(first);
  const plain = [[use("toolu_a")]];

  test.each([
    ["another model", route({ upstream_model: "claude-other" })],
    ["the model of another provider", route({}, "reseller")],
  ])("not to %s", (_, to) => {
    const { turns, results: answeredCalls } = afterwards(message, undefined, to);
    expect(turns).toEqual(plain);
    expect(answeredCalls).toEqual(["toolu_a"]);
  });

  test.each([
    ["without sense", "toolu_a.sig.stub_stub-model.bm90aGluZw"],
    ["with another content", `toolu_a.sig.stub_stub-model.${Buffer.from('{"blocks":[[1,2],{"a":1}]}').toString("base64url")}`],
    ["with negative lengths", `toolu_a.sig.stub_stub-model.${Buffer.from('{"blocks":[-5,[-1,"YQ=="]]}').toString("base64url")}`],
  ])("an id %s has none", (_, id) => {
    const call = { id, type: "function", function: { name: "look", arguments: '{"at":"toolu_a"}' } };
    expect(afterwards({ role: "assistant", content: null, tool_calls: [call] }).turns).toEqual(plain);
  });
});

test("any blocks before any calls come back as they were, whole and streamed, if their texts do", () => {
  const words = fc.oneof(fc.string({ unit: "binary", minLength: 1 }), fc.constantFrom("Hm.", "😀", "a\nb"));
  const block = fc.oneof(
    words.map((text) => said(`${text}.`)),
    fc
      .tuple(fc.oneof(words, fc.constant("")), fc.base64String({ minLength: 4 }))
      .map(([text, signature]) => thinking(text, signature)),
    fc.base64String({ minLength: 4 }).map((data): Block => ({ type: "redacted_thinking", data })),
  );
  // A thought before the first call: the texts before an answer's first thoughts stay together otherwise.
  const steps = fc.array(fc.array(block, { maxLength: 4 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(steps, (before) => {
      const blocks = before.flatMap((some, index) => [thinking("First.", "YQ=="), ...some, use(`toolu_${index}`)]);
      for (const answer of [answered, streamed]) expect(afterwards(answer(blocks)).turns).toEqual([blocks]);
    }),
    { numRuns: 200 },
  );
});

test("many ids that hold much are read within the bounds of a request", () => {
  const large = Buffer.from(`{"blocks":[${"1,".repeat(150_000)}1]}`).toString("base64url");
  const calls = Array.from({ length: 20 }, (_, index) => ({
    id: `toolu_${index}.sig.stub_stub-model.${large}`,
    type: "function",
    function: { name: "look", arguments: "{}" },
  }));
  const message: ChatMessage = { role: "assistant", content: null, tool_calls: calls };
  expect(afterwards(message).turns[0]).toHaveLength(20);
});

describe("thoughts of a conversation", () => {
  const message = answered(first);
  const second = answered([thinking("Now the time.", "Yg=="), use("toolu_b")]);
  const finished: ChatMessage = { role: "assistant", content: "It rains." };

  test("stay through all calls of a turn, and end with the answer, whose own thoughts nobody has kept", () => {
    const loop = [question, message, ...results(message), second, ...results(second)];
    expect(
      sent(loop)
        .turns.flat()
        .filter(({ type }) => type === "thinking"),
    ).toHaveLength(2);
    const later = [...loop, finished, question, second, ...results(second)];
    expect(
      sent(later)
        .turns.flat()
        .filter(({ type }) => type === "thinking"),
    ).toEqual([thinking("Now the time.", "Yg==")]);
  });

  test("are not sent where the model does not think", () => {
    for (const chat of [{ reasoning_effort: "none" }, { reasoning_effort: "high", temperature: 0.5 }]) {
      expect(afterwards(message, chat).turns).toEqual([[use("toolu_a")]]);
    }
  });

  test.each([
    ["never", "adaptive"],
    ["between_tools", "between_tools"],
  ] as const)("are sent with the effort none to a model that thinks all the same: %s", (off, type) => {
    const thinker = route({ thinking: "adaptive", thinking_off: off });
    const { turns, thinking: mode } = afterwards(answered(first, thinker), { reasoning_effort: "none" }, thinker);
    expect([turns, mode]).toEqual([[first], { type }]);
    const forced = { reasoning_effort: "none", tool_choice: "required" };
    expect(afterwards(answered(first, thinker), forced, thinker).turns).toEqual([[use("toolu_a")]]);
  });

  test("of a model that binds them go without its controls where it thinks between tools alone", () => {
    const bound = route({ thinking: "adaptive", thinking_off: "between_tools", thinking_bound: true });
    const { headers, thinking: mode } = afterwards(answered(first, bound), { reasoning_effort: "none" }, bound);
    expect(headers).not.toContainKey("anthropic-beta");
    expect(mode).toEqual({ type: "between_tools" });
  });

  test("are sent on without an effort, and the model thinks to the end of its turn", () => {
    const { turns, thinking: mode } = afterwards(message, {});
    expect([turns, mode]).toEqual([[first], { type: "adaptive" }]);
  });

  test("are dropped by a model that binds them, and not refused, if anything before them has changed", () => {
    const bound = route({ thinking: "adaptive", thinking_bound: true });
    const { headers, thinking: mode } = afterwards(answered(first, bound), undefined, bound);
    expect(headers["anthropic-beta"]).toBe("thinking-binding-controls-2026-08-01");
    expect(mode).toEqual({ type: "adaptive", display: "summarized", block_binding: { prefix_mismatch_behavior: "drop_block" } });
    expect(sent([question], undefined, bound).headers).not.toContainKey("anthropic-beta");
    expect(afterwards(message).headers).not.toContainKey("anthropic-beta");
  });
});

describe("a model that takes a budget", () => {
  const budget = route({ thinking: "budget" });
  const started = answered(first, budget);
  const thoughtless = answered([use("toolu_a")], budget);

  test("thinks on in a turn that it began with a thought", () => {
    const { thinking: mode, turns } = afterwards(started, undefined, budget);
    expect(mode).toMatchObject({ type: "enabled" });
    expect(turns).toEqual([first]);
  });

  test("does not think in the middle of a turn without one, which it would refuse", () => {
    const { thinking: mode, turns } = afterwards(thoughtless, undefined, budget);
    expect(mode).toBeUndefined();
    expect(turns).toEqual([[use("toolu_a")]]);
  });

  test("thinks again once the user has said something", () => {
    const later = [question, thoughtless, ...results(thoughtless), { role: "assistant", content: "It rains." }, question];
    expect(sent(later, undefined, budget).thinking).toMatchObject({ type: "enabled" });
  });
});

import { describe, expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { BlockSequence, answerBlocks, type AnswerBlock } from "../../../../src/gateway/api/answer/block-sequence.ts";
import type { AnswerPiece } from "../../../../src/gateway/providers/provider.ts";
import { WholeObject } from "../../../../src/gateway/providers/wire/json.ts";

type Feed = (sequence: BlockSequence) => void;

/** What the receiver gets, in short, and the closed blocks. */
function run(feed: Feed, { keepsTexts = true } = {}) {
  const calls: string[] = [];
  const blocks: AnswerBlock[] = [];
  const sequence = new BlockSequence(
    {
      opened: ({ kind }, index) => void calls.push(`open ${index} ${kind}`),
      more: (_block, index, text) => void calls.push(`more ${index} ${text}`),
      closed(block, index) {
        calls.push(`close ${index}`);
        blocks.push({ ...block });
      },
    },
    { keepsTexts },
  );
  feed(sequence);
  return { calls, blocks, sequence };
}

function ended(feed: Feed) {
  const result = run(feed);
  result.sequence.end();
  return result;
}

const begun = (index: number, name: string, text = "") => ({
  tool_calls: [{ index, id: `call_${name}`, type: "function", function: { name, arguments: text } }],
});
const argued = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] });
const called = (name: string, text: string): Extract<AnswerBlock, { kind: "call" }> => ({
  kind: "call",
  id: `call_${name}`,
  name,
  custom: false,
  text,
});
const thinking = (text: string, seal = "", redacted = false): AnswerBlock => ({ kind: "thinking", text, seal, redacted });

describe("an answer in order", () => {
  test("is written piece by piece, one block after another", () => {
    const { calls, blocks } = ended((sequence) => {
      sequence.delta({ role: "assistant", content: "" });
      sequence.delta({ reasoning_content: "hm" });
      sequence.thought({ seal: "S", redacted: false });
      sequence.delta({ content: "He" });
      sequence.delta({ content: "llo" });
      sequence.delta(begun(0, "a"));
      sequence.delta(argued(0, "{"));
      sequence.delta(argued(0, "}"));
    });
    expect(calls).toEqual(
      [
        ["open 0 thinking", "more 0 hm", "close 0"],
        ["open 1 text", "more 1 He", "more 1 llo", "close 1"],
        ["open 2 call", "more 2 {", "more 2 }", "close 2"],
      ].flat(),
    );
    expect(blocks).toEqual([thinking("hm", "S"), { kind: "text", text: "Hello" }, called("a", "{}")]);
  });

  test("shows a text behind a finished call at once, and a call behind that text", () => {
    const { calls } = run((sequence) => {
      sequence.delta(begun(0, "a", "{}"));
      sequence.delta({ content: "and" });
      sequence.delta(begun(1, "b", "{}"));
    });
    expect(calls).toEqual(
      [
        ["open 0 call", "more 0 {}", "close 0"],
        ["open 1 text", "more 1 and", "close 1"],
        ["open 2 call", "more 2 {}"],
      ].flat(),
    );
  });

  test("parts text, refusal and thinking, and goes on with the same kind", () => {
    const { blocks } = ended((sequence) => {
      sequence.delta({ content: "a" });
      sequence.delta({ refusal: "b" });
      sequence.delta({ reasoning_content: "c" });
      sequence.delta({ reasoning_content: "d" });
      sequence.delta({ content: "e" });
    });
    expect(blocks).toEqual([
      { kind: "text", text: "a" },
      { kind: "refusal", text: "b" },
      thinking("cd"),
      { kind: "text", text: "e" },
    ]);
  });

  test("keeps no texts if nobody needs them", () => {
    const { blocks, sequence } = run((given) => given.delta({ content: "Hello" }), { keepsTexts: false });
    sequence.end();
    expect(blocks).toEqual([{ kind: "text", text: "" }]);
    expect(sequence.held).toBe(0);
  });
});

describe("calls that are mixed up", () => {
  test("are written one after another, with all of their arguments", () => {
    const { calls, blocks } = ended((sequence) => {
      sequence.delta(begun(0, "a"));
      sequence.delta(begun(1, "b"));
      sequence.delta(argued(0, '{"q":'));
      sequence.delta(argued(1, "{}"));
      sequence.delta(argued(0, "1}"));
    });
    expect(blocks).toEqual([called("a", '{"q":1}'), called("b", "{}")]);
    expect(calls).toEqual(
      [
        ["open 0 call", 'more 0 {"q":', "more 0 1}", "close 0"],
        ["open 1 call", "more 1 {}", "close 1"],
      ].flat(),
    );
  });

  test("let all wait that is behind a call whose arguments come at the end", () => {
    const { calls, sequence } = run((given) => {
      given.delta(begun(3, "a"));
      given.delta({ content: "wa" });
      given.delta({ content: "it" });
      given.delta({ reasoning_content: "hm" });
      given.thought({ seal: "S", redacted: false });
    });
    expect(calls).toEqual(["open 0 call"]);
    sequence.delta(argued(3, "{}"));
    expect(calls.slice(1)).toEqual(
      [
        ["more 0 {}", "close 0"],
        ["open 1 text", "more 1 wait", "close 1"],
        ["open 2 thinking", "more 2 hm", "close 2"],
      ].flat(),
    );
  });

  test("are written at the end although their arguments are cut", () => {
    const { blocks } = ended((sequence) => {
      sequence.delta(begun(0, "a", '{"q"'));
      sequence.delta(begun(1, "b", "{"));
      sequence.delta({ content: "t" });
    });
    expect(blocks).toEqual([called("a", '{"q"'), called("b", "{"), { kind: "text", text: "t" }]);
  });

  test("are not finished by a brace within a text", () => {
    const { calls } = run((sequence) => {
      sequence.delta(begun(0, "a", String.raw`{"q":"}\"}`));
      sequence.delta({ content: "t" });
    });
    expect(calls).not.toContain("close 0");
  });

  test("of a custom tool last to the end, since its text has no mark", () => {
    const custom = { tool_calls: [{ index: 0, id: "call_a", type: "custom", custom: { name: "a", input: "{}" } }] };
    const { blocks } = ended((sequence) => {
      sequence.delta(custom);
      sequence.delta({ content: "t" });
      sequence.delta({ tool_calls: [{ index: 0, custom: { input: " more" } }] });
    });
    expect(blocks).toEqual([
      { ...called("a", "{} more"), custom: true },
      { kind: "text", text: "t" },
    ]);
  });

  test("have the place that they begin at, whatever their index", () => {
    const { blocks } = ended((sequence) => {
      sequence.delta(begun(7, "a", "{}"));
      sequence.delta(begun(2, "b", "{}"));
    });
    expect(blocks).toEqual([called("a", "{}"), called("b", "{}")]);
  });

  test("with the same index are parted by their ids", () => {
    const { blocks } = ended((sequence) => {
      sequence.delta(begun(0, "a", "{"));
      sequence.delta(begun(0, "b"));
      sequence.delta(argued(0, "{}"));
    });
    expect(blocks).toEqual([called("a", "{"), called("b", "{}")]);
  });

  test("drop pieces that belong to none", () => {
    const { calls, sequence } = ended((given) => given.delta(argued(0, "{}")));
    expect(calls).toEqual([]);
    expect(sequence.calledTools).toBe(false);
  });

  test("in the older form are calls too", () => {
    const { blocks } = ended((sequence) => {
      sequence.delta({ function_call: { name: "a", arguments: "" } });
      sequence.delta({ function_call: { arguments: "{}" } });
    });
    expect(blocks).toEqual([{ ...called("a", "{}"), id: "" }]);
  });
});

describe("thoughts", () => {
  test("are sealed by what ends them; redacted ones and seals alone stand apart", () => {
    const { blocks } = ended((sequence) => {
      sequence.delta({ reasoning_content: "one" });
      sequence.thought({ seal: "D", redacted: true });
      sequence.thought({ seal: "S", redacted: false });
      sequence.delta({ reasoning_content: "two" });
      sequence.thought({ seal: "", redacted: false });
      sequence.delta({ reasoning_content: "three" });
    });
    expect(blocks).toEqual([thinking("one"), thinking("", "D", true), thinking("", "S"), thinking("two"), thinking("three")]);
  });

  test("without text and seal are no block", () => {
    const { calls } = ended((sequence) => {
      sequence.thought({ seal: "", redacted: false });
      sequence.thought({ seal: "", redacted: true });
    });
    expect(calls).toEqual([]);
  });
});

test("however many calls are mixed up, each character is scanned once and each waiting text is written once", () => {
  const count = 2_000;
  const pieces = ['{"q":"', "x".repeat(50), '"}'];
  using scanned = spyOn(WholeObject.prototype, "feed");
  const { calls } = ended((sequence) => {
    for (let index = 0; index < count; index++) sequence.delta(begun(index, `n${index}`));
    // The first call ends last, so that all others wait for it.
    for (const piece of pieces) for (let index = count - 1; index >= 0; index--) sequence.delta(argued(index, piece));
  });
  const characters = scanned.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
  expect(characters).toBe(count * pieces.join("").length);
  expect(calls.filter((one) => one.startsWith("more"))).toHaveLength(count - 1 + pieces.length);
});

test("nothing is taken after the end", () => {
  const { calls, sequence } = run((given) => given.delta(begun(0, "a", "{")));
  sequence.end();
  const before = calls.length;
  sequence.delta({ content: "late" });
  sequence.delta(argued(0, "}"));
  sequence.thought({ seal: "S", redacted: false });
  sequence.end();
  expect(calls).toHaveLength(before);
});

test("what waits and what is kept counts as held", () => {
  const text = "x".repeat(1_000);
  const { sequence } = run((given) => given.delta(begun(0, "a")), { keepsTexts: false });
  expect(sequence.held).toBe(0);
  for (let index = 1; index <= 100; index++) sequence.delta(begun(index, "b"));
  sequence.delta({ content: text });
  expect(sequence.held).toBeGreaterThan(100 + text.length);
  for (let index = 0; index <= 100; index++) sequence.delta(argued(index, "{}"));
  expect(sequence.held).toBe(0);
  expect(run((given) => given.delta({ content: text })).sequence.held).toBeGreaterThanOrEqual(text.length);
});

describe("a whole answer", () => {
  const message = {
    role: "assistant" as const,
    reasoning_content: "hm",
    content: "Hello",
    refusal: null,
    tool_calls: [
      { id: "call_a", type: "function", function: { name: "a", arguments: "{" } },
      { id: "call_b", type: "function", function: { name: "b", arguments: "{}" } },
    ],
  };

  test("has reasoning, text and calls if its pieces are unknown", () => {
    expect(answerBlocks({ message })).toEqual([
      thinking("hm"),
      { kind: "text", text: "Hello" },
      called("a", "{"),
      called("b", "{}"),
    ]);
  });

  test("has the order of its pieces", () => {
    const pieces: AnswerPiece[] = [
      { kind: "delta", delta: { content: "Hello" }, finishReason: null },
      { kind: "delta", delta: { reasoning_content: "hm" }, finishReason: null },
      { kind: "thought", seal: "S", redacted: false },
      { kind: "delta", delta: begun(0, "a", "{}"), finishReason: null },
    ];
    expect(answerBlocks({ message, pieces })).toEqual([{ kind: "text", text: "Hello" }, thinking("hm", "S"), called("a", "{}")]);
  });
});

test("any order of pieces gives the same texts and calls, one open block at a time", () => {
  const json = fc.json({ maxDepth: 2 }).map((text) => `{"v":${text}}`);
  const call = fc.record({ at: fc.nat(30), text: json, cuts: fc.array(fc.nat(8), { maxLength: 6 }), custom: fc.boolean() });
  const said = fc.record({ at: fc.nat(30), kind: fc.constantFrom("content", "refusal", "reasoning_content"), text: fc.string() });
  const seal = fc.record({ at: fc.nat(30), seal: fc.string(), redacted: fc.boolean() });
  fc.assert(
    fc.property(fc.array(call, { maxLength: 5 }), fc.array(said), fc.array(seal, { maxLength: 4 }), (calls, texts, seals) => {
      const steps: { at: number; step: Feed }[] = [
        ...texts.map(({ at, kind, text }) => ({ at, step: (given: BlockSequence) => given.delta({ [kind]: text }) })),
        ...seals.map(({ at, ...thought }) => ({ at, step: (given: BlockSequence) => given.thought(thought) })),
        ...calls.flatMap((one, index) => stepsOf(one, index)),
      ];
      const inOrder = steps.map((one, place) => ({ ...one, place })).toSorted((a, b) => a.at - b.at || a.place - b.place);
      const { calls: told, blocks } = ended((sequence) => {
        for (const { step } of inOrder) step(sequence);
      });
      const joined = (kind: string) => blocks.flatMap((block) => (block.kind === kind ? [block.text] : [])).join("");
      const given = (kind: string) =>
        texts
          .toSorted((a, b) => a.at - b.at)
          .flatMap((one) => (one.kind === kind ? [one.text] : []))
          .join("");
      expect(joined("text")).toBe(given("content"));
      expect(joined("refusal")).toBe(given("refusal"));
      expect(joined("thinking")).toBe(given("reasoning_content"));
      const written = blocks.flatMap((block) => (block.kind === "call" ? [[block.id, block.text] as const] : []));
      expect(new Map(written)).toEqual(new Map(calls.map(({ text }, index) => [`call_${index}`, text])));
      expect(written).toHaveLength(calls.length);
      expect(blocks.filter(({ text, ...rest }) => text === "" && rest.kind !== "call" && !("seal" in rest && rest.seal))).toEqual(
        [],
      );
      expectOneByOne(told);
    }),
  );
});

interface Call {
  at: number;
  text: string;
  cuts: number[];
  custom: boolean;
}

/** The pieces of a call, each later than the one before. */
function stepsOf({ at, text, cuts, custom }: Call, index: number): { at: number; step: Feed }[] {
  const kind = custom ? "custom" : "function";
  const fields = (more: string) => (custom ? { input: more } : { arguments: more });
  const pieces = [
    ...cuts.map((cut, place) => ({ at: at + place * 3, length: cut })),
    { at: at + cuts.length * 3, length: Infinity },
  ];
  let rest = text;
  const steps = pieces.map(({ at: when, length }) => {
    const more = rest.slice(0, length);
    rest = rest.slice(more.length);
    return { at: when, step: (given: BlockSequence) => given.delta({ tool_calls: [{ index, [kind]: fields(more) }] }) };
  });
  const first = { index, id: `call_${index}`, type: kind, [kind]: { name: "f", ...fields("") } };
  return [{ at, step: (given) => given.delta({ tool_calls: [first] }) }, ...steps];
}

/** Blocks are numbered from 0 without gaps, and never two are open. */
function expectOneByOne(told: readonly string[]): void {
  let open: number | null = null;
  let next = 0;
  for (const [step, index] of told.map((one) => one.split(" "))) {
    if (step === "open") {
      expect([open, Number(index)]).toEqual([null, next]);
      open = next++;
    } else expect(Number(index)).toBe(open ?? -1);
    if (step === "close") open = null;
  }
  expect(open).toBeNull();
}

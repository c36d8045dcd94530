/** A client receives each tool call once, whole, and no other, however a provider numbers its calls and mixes their pieces. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { openaiStreamDecoder } from "../../../../src/gateway/providers/openai/stream.ts";
import { EventSequence } from "../../../../src/gateway/providers/transport/events.ts";
import { heldToolCallCharactersMax } from "../../../../src/gateway/limits.ts";
import { Transcript } from "../../../support/providers/transcript.ts";

interface Call {
  id: string;
  name: string;
  arguments: string;
}

interface Piece {
  index?: number;
  id?: string;
  type?: "function";
  function?: { name?: string; arguments?: string };
}

/** How providers mark the call of a piece. */
const numberings = {
  "an index each": (call: number): Piece => ({ index: call }),
  "indexes with gaps": (call: number): Piece => ({ index: call * 3 + 2 }),
  "indexes from behind": (call: number): Piece => ({ index: 9 - call }),
  "the id on each piece, no index": (call: number): Piece => ({ id: `id_${call}` }),
  "the id on each piece, all indexes 0": (call: number): Piece => ({ index: 0, id: `id_${call}` }),
};

/** Arguments as models write them, split anywhere. */
const written = fc
  .tuple(
    fc.dictionary(fc.string({ maxLength: 4 }), fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom("}{", '"}', "\\"))),
    fc.nat(),
  )
  .map(([value, at]) => {
    const text = JSON.stringify(value);
    const cut = at % (text.length + 1);
    return { whole: text, pieces: [text.slice(0, cut), text.slice(cut)] };
  });

const conversation = fc.record({
  numbering: fc.constantFrom(...Object.keys(numberings)),
  calls: fc.array(fc.record({ argued: written, nameLate: fc.boolean(), idLate: fc.boolean() }), { minLength: 1, maxLength: 5 }),
  /** Picks the call that continues next, among unfinished ones. */
  order: fc.array(fc.nat(), { minLength: 20, maxLength: 20 }),
});

function piecesOf(
  call: number,
  { argued, nameLate, idLate }: { argued: { pieces: string[] }; nameLate: boolean; idLate: boolean },
): Piece[] {
  const id = `id_${call}`;
  const [first = "", second = ""] = argued.pieces;
  const begun: Piece[] = nameLate
    ? [{ id, type: "function" }, { function: { name: `f${call}` } }, { function: { arguments: first } }]
    : [{ id, type: "function", function: { name: `f${call}`, arguments: first } }];
  const pieces: Piece[] = [...begun, { function: { arguments: second } }];
  // An id without anything else begins nothing twice.
  return idLate ? [...pieces, { id, function: { arguments: "" } }] : pieces;
}

function told(pieces: readonly Piece[]): Transcript {
  const decode = openaiStreamDecoder();
  const transcript = new Transcript();
  const chunks = pieces.map((piece) => ({ choices: [{ index: 0, delta: { tool_calls: [piece] }, finish_reason: null }] }));
  const lines = [...chunks, { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }].map((one) =>
    JSON.stringify(one),
  );
  for (const line of [...lines, "[DONE]"]) {
    for (const event of decode(line)) if (transcript.last !== "failure") transcript.take(event);
  }
  return transcript;
}

const byId = (calls: readonly Call[]) => calls.toSorted((one, other) => one.id.localeCompare(other.id));

describe("streamed tool calls", () => {
  test("each arrive once and whole, in any order of their pieces", () => {
    fc.assert(
      fc.property(conversation, ({ numbering, calls, order }) => {
        const mark = numberings[numbering as keyof typeof numberings];
        const left = calls.map((call, index) => piecesOf(index, call).map((piece) => ({ ...mark(index), ...piece })));
        const mixed: Piece[] = [];
        for (let step = 0; left.some((pieces) => pieces.length > 0); step++) {
          const open = left.filter((pieces) => pieces.length > 0);
          mixed.push(open[(order[step % order.length] ?? 0) % open.length]?.shift() ?? {});
        }
        const expected = calls.map(({ argued }, index) => ({ id: `id_${index}`, name: `f${index}`, arguments: argued.whole }));
        expect(byId(told(mixed).toolCalls)).toEqual(expected);
      }),
    );
  });

  test("each arrive once and whole, one after another, without ids and indexes", () => {
    fc.assert(
      fc.property(fc.array(written, { minLength: 1, maxLength: 5 }), fc.boolean(), (argued, numbered) => {
        const pieces = argued.map(({ whole }) => ({
          ...(numbered && { index: 0, id: "" }),
          function: { name: "f", arguments: whole },
        }));
        const { toolCalls } = told(pieces);
        expect(toolCalls.map((call) => call.arguments)).toEqual(argued.map(({ whole }) => whole));
        expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(argued.length);
      }),
    );
  });

  test("without a name are not looked at one by one at each finish reason, nor open ones at each usage", () => {
    let looked = 0;
    const values = Set.prototype[Symbol.iterator];
    Reflect.set(Set.prototype, Symbol.iterator, function (this: Set<unknown>) {
      looked += this.size;
      return Reflect.apply(values, this, []) as ReturnType<typeof values>;
    });
    const chunk = (choice: object, more: object = {}) => JSON.stringify({ choices: [choice], ...more });
    const many = 500;
    const index = Array.from({ length: many }, (_, at) => at);
    try {
      const sequence = new EventSequence(openaiStreamDecoder());
      const lines = [
        ...index.map((at) => chunk({ delta: { tool_calls: [{ index: at, id: `a${at}` }] } })),
        ...index.map(() => chunk({ delta: {}, finish_reason: "stop" })),
        ...index.map((at) =>
          chunk({ delta: { tool_calls: [{ index: many + at, id: `b${at}`, function: { name: "f", arguments: "{}" } }] } }),
        ),
      ];
      for (const line of lines) expect(sequence.take(line, [])).toBe(false);
      for (const at of index) {
        sequence.take(JSON.stringify({ choices: [], usage: { prompt_tokens: at, completion_tokens: at } }), []);
        expect(sequence.isInCall).toBe(false);
      }
    } finally {
      Reflect.set(Set.prototype, Symbol.iterator, values);
    }
    expect(looked).toBeLessThan(20 * many);
  });

  test("are not held for ever if their name never arrives", () => {
    const argument = "x".repeat(1_024);
    const endless = Array.from({ length: heldToolCallCharactersMax / 1_024 + 1 }, () => ({
      index: 0,
      function: { arguments: argument },
    }));
    expect(told([{ index: 0, id: "a" }, ...endless]).failure).toMatchObject({ code: "upstream_error" });
    expect(told([{ index: 0, id: "a" }, ...endless.slice(0, 9), { index: 0, function: { name: "f" } }]).toolCalls).toEqual([
      { id: "a", name: "f", arguments: argument.repeat(9) },
    ]);
  });
});

import { describe, expect, test } from "bun:test";
import { storedAnswerCharactersMax } from "../../../src/gateway/prompts/limits.ts";
import { AnswerAssembler } from "../../../src/gateway/prompts/prompt-recorder.ts";

function kept(...pieces: Record<string, unknown>[]): AnswerAssembler {
  const answer = new AnswerAssembler();
  for (const piece of pieces) answer.append(piece);
  return answer;
}

/** The message in its stored form. */
function message(...pieces: Record<string, unknown>[]): unknown {
  return JSON.parse(JSON.stringify(kept(...pieces).message));
}

describe("the assembler of stored answers", () => {
  test("a whole answer gives its message", () => {
    const whole = {
      role: "assistant",
      content: null,
      refusal: null,
      tool_calls: [
        { id: "call_1", type: "function", function: { name: "f", arguments: '{"a":1}' } },
        { id: "call_2", type: "custom", custom: { name: "g", input: "text" } },
      ],
    };
    const { role: _role, ...rest } = whole;
    expect(message(whole)).toEqual(rest);
  });

  test("the assembler joins the pieces of a stream: texts, reasoning, and calls by their index", () => {
    const stream = [
      { role: "assistant", content: "" },
      { reasoning_content: "Hm" },
      { reasoning_content: "m." },
      { content: "Hel" },
      { content: "lo" },
      { tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }] },
      { tool_calls: [{ index: 1, id: "b", type: "function", function: { name: "g", arguments: "{" } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"x":' } }] },
      {
        tool_calls: [
          { index: 0, function: { arguments: "1}" } },
          { index: 1, function: { arguments: "}" } },
        ],
      },
      {},
    ];
    expect(message(...stream)).toEqual({
      content: "Hello",
      reasoning_content: "Hmm.",
      tool_calls: [
        { id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } },
        { id: "b", type: "function", function: { name: "g", arguments: "{}" } },
      ],
    });
  });

  test("the message is null if no piece has content", () => {
    expect(kept().message).toBeNull();
    expect(kept({ role: "assistant" }, {}).message).toBeNull();
  });

  test("the assembler keeps an answer up to its bound, and reports a longer one as truncated", () => {
    const half = "x".repeat(storedAnswerCharactersMax / 2);
    expect(kept({ content: half }, { content: half }).truncated).toBe(false);
    const longer = kept({ content: half }, { content: `${half}y` }, { content: "z" });
    expect(longer.truncated).toBe(true);
    expect(longer.characters).toBe(storedAnswerCharactersMax);
    expect(longer.message?.["content"]).toBe(half + half);
  });

  test("the assembler treats a provider's unusual field names as ordinary fields", () => {
    const odd = JSON.parse('{"tool_calls":[{"index":0,"custom":{"__proto__":{"polluted":"yes"},"input":"x"}}]}');
    const text = JSON.stringify(kept(odd, odd).message);
    expect(text).toBe('{"tool_calls":[{"custom":{"__proto__":{"polluted":"yesyes"},"input":"xx"}}]}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

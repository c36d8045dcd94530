/** Chunks that differ only in their text are not parsed, with the same result as if they were. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { openaiStreamDecoder } from "../../../../src/gateway/providers/openai/stream.ts";
import type { ProviderEvent } from "../../../../src/gateway/providers/provider.ts";

const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "m" };

const contents = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom('"', "\\", "\n", '","content":"', "probe", "a", "", "\u0000", "\u2028", "}]}"),
);

/** As providers write them: other fields before and after, spaced as Python does it, something new in each. */
const chunks = fc
  .record({
    delta: fc.oneof(
      { weight: 8, arbitrary: contents.map((content): unknown => ({ content })) },
      { weight: 1, arbitrary: contents.map((content): unknown => ({ role: "assistant", content })) },
      { weight: 1, arbitrary: contents.map((content): unknown => ({ content, refusal: content })) },
      { weight: 1, arbitrary: contents.map((content): unknown => ({ reasoning_content: content })) },
      { weight: 1, arbitrary: fc.constantFrom<unknown>({}, { content: null }, null, { content: [{ type: "text", text: "a" }] }) },
    ),
    more: fc.constantFrom(
      {},
      { usage: null },
      { usage: { prompt_tokens: 5, completion_tokens: 1 } },
      { content: "a", usage: null },
    ),
    finish: fc.constantFrom(null, null, null, null, null, "stop", "length"),
    padding: fc.constantFrom({}, {}, {}, { obfuscation: "x" }, { obfuscation: "yy" }),
    spaced: fc.boolean(),
  })
  .map(({ delta, more, finish, padding, spaced }) => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    const chunk = { ...head, ...more, choices, ...padding };
    return spaced ? JSON.stringify(chunk, null, 1).replace(/\n */g, " ") : JSON.stringify(chunk);
  });

/** Parsed each time, since no chunk begins like another. */
function parsed(texts: readonly string[]): ProviderEvent[][] {
  const decode = openaiStreamDecoder();
  return texts.map((text, n) => decode(" ".repeat(n) + text));
}

function decoded(texts: readonly string[]): ProviderEvent[][] {
  const decode = openaiStreamDecoder();
  return texts.map((text) => decode(text));
}

describe("a stream of chunks", () => {
  test("decodes the same with and without the template", () => {
    fc.assert(
      fc.property(fc.array(chunks, { maxLength: 30 }), (texts) => {
        expect(decoded(texts)).toEqual(parsed(texts));
      }),
    );
  });

  test("whose text also occurs elsewhere is not matched by the template", () => {
    const chunk = (content: string, other: string) =>
      `{"x":{"content":"${other}"},"choices":[{"delta":{"content":"${content}"}}]}`;
    const texts = [chunk("a", "a"), chunk("b", "b"), chunk("b", "a"), chunk("a", "b")];
    expect(decoded(texts)).toEqual(parsed(texts));
    const twice = [
      `{"choices":[{"delta":{"content":"a","content":"a"}}]}`,
      `{"choices":[{"delta":{"content":"b","content":"a"}}]}`,
    ];
    expect(decoded(twice)).toEqual(parsed(twice));
  });

  test("fails at invalid JSON, like any other", () => {
    const whole = `{"choices":[{"delta":{"content":"a"}}]}`;
    expect(decoded([whole, whole.replace('"a"', '"b')])).toMatchObject([[{ kind: "delta" }], [{ kind: "failure" }]]);
    expect(decoded([whole, whole.replace('"a"', '"\\"')])).toMatchObject([[{ kind: "delta" }], [{ kind: "failure" }]]);
  });
});

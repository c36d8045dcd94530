/** A stream's calls take bounded memory: an answer with more of them than a request can give back fails. */
import { describe, expect, test } from "bun:test";
import { bodyBytesMax, messagesMax } from "../../../../src/gateway/limits.ts";
import { UpstreamFailure } from "../../../../src/gateway/providers/provider.ts";
import { wireFormats } from "../../../../src/gateway/providers/registry.ts";

/** The data of an event that begins a call. */
const begins: Record<string, (index: number, id: string) => object> = {
  openai: (index, id) => ({ choices: [{ delta: { tool_calls: [{ index, id, function: { name: "f", arguments: "{}" } }] } }] }),
  "openai-responses": (output_index, call_id) => ({
    type: "response.output_item.added",
    output_index,
    item: { type: "function_call", call_id, name: "f" },
  }),
  anthropic: (index, id) => ({ type: "content_block_start", index, content_block: { type: "tool_use", id, name: "f" } }),
  google: (_, id) => ({ candidates: [{ content: { parts: [{ functionCall: { id, name: "f", args: { a: 1 } } }] } }] }),
};

/** How many calls a format delivers before it fails. */
function delivered(format: string, ids: (index: number) => string, most: number): number {
  const decode = wireFormats[format as "openai"].format.streamDecoder();
  for (let index = 0; index < most; index++) {
    try {
      const [event] = decode(JSON.stringify(begins[format]?.(index, ids(index))));
      if (event?.kind === "failure") throw event.failure;
      expect(event).toMatchObject({ kind: "delta", delta: { tool_calls: [{ index }] } });
    } catch (error) {
      expect(error).toBeInstanceOf(UpstreamFailure);
      return index;
    }
  }
  return most;
}

describe.each(Object.keys(begins))("%s", (format) => {
  test("delivers as many calls as a request may have messages", () => {
    expect(delivered(format, (index) => `call_${index}`, messagesMax * 2)).toBe(messagesMax);
  });

  test("delivers calls whose ids a request can have", () => {
    const length = bodyBytesMax / 8;
    expect(delivered(format, (index) => `${index}${"x".repeat(length)}`, 20)).toBe(7);
  });
});

test("pieces that only have an id are calls too", () => {
  const decode = wireFormats.openai.format.streamDecoder();
  const piece = (index: number) => JSON.stringify({ choices: [{ delta: { tool_calls: [{ index, id: `call_${index}` }] } }] });
  for (let index = 0; index < messagesMax; index++) expect(decode(piece(index))).toEqual([]);
  expect(() => decode(piece(messagesMax))).toThrow(UpstreamFailure);
});

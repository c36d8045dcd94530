import { expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import { sliceBytes } from "../../../../../src/gateway/providers/transport/http1/slice-bytes.ts";

for (const length of [1, 1_000, 1_001, 70_000]) {
  test(`a slice of ${length} bytes equals the bytes between its ends, also if it is empty`, () => {
    const bytes = Buffer.from(Array.from({ length }, (_, at) => at % 251));
    for (const [start, end] of [
      [0, length],
      [length >> 1, length],
      [0, length >> 1],
      [length, length],
    ] as const) {
      expect([...sliceBytes(bytes, start, end)]).toEqual([...bytes].slice(start, end));
    }
  });
}

test("a slice of a small buffer is a copy, so that the buffer gets no view", () => {
  const piece = Buffer.allocUnsafeSlow(300).fill("a");
  const part = sliceBytes(piece, 100, 200);
  piece.fill("b");
  expect(part.toString()).toBe("a".repeat(100));
});

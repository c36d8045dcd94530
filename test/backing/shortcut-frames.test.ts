import { expect, test } from "bun:test";
import fc from "fast-check";
import { cutFrames, encodeFrame, type Frame } from "../../src/backing/distributed/shortcuts/frames.ts";

const frame = fc.record({
  question: fc.nat({ max: 2 ** 48 - 1 }),
  sending: fc.nat({ max: 1 }),
  payload: fc.uint8Array({ maxLength: 300 }),
});

/** Takes chunks as a socket brings them. */
function taken(chunks: Buffer[]): Frame[] {
  let rest: Buffer = Buffer.alloc(0);
  return chunks.flatMap((chunk) => {
    const cut = cutFrames(Buffer.concat([rest, chunk]), 300);
    rest = cut.rest;
    return cut.frames;
  });
}

test("frames come out as they went in, wherever the stream of bytes is cut", () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 8 }), fc.integer({ min: 1, max: 40 }), (frames, size) => {
      const bytes = Buffer.concat(frames.map(encodeFrame));
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size));
      const plain = ({ payload, ...numbers }: Frame) => ({ ...numbers, payload: [...payload] });
      expect(taken(chunks).map(plain)).toEqual(frames.map(plain));
    }),
  );
});

test("a length beyond what the bus takes is not waited for", () => {
  const long = encodeFrame({ question: 1, sending: 0, payload: new Uint8Array(301) });
  expect(() => cutFrames(Buffer.from(long.subarray(0, 11)), 300)).toThrow(RangeError);
});

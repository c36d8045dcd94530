/** What is kept of a body while it arrives takes little more memory than its bytes, however small the pieces are. */
import { expect, spyOn, test } from "bun:test";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { upstreamErrorBytesMax } from "../../../../src/gateway/limits.ts";
import { openai } from "../../../../src/gateway/providers/registry.ts";
import { readBeginning, readWhole, type UpstreamCall } from "../../../../src/gateway/providers/transport/upstream-call.ts";
import { GatheredBytes } from "../../../../src/http/body.ts";
import { HttpCall } from "../../../../src/gateway/providers/transport/network.ts";
import { EventParser, EventSequence } from "../../../../src/gateway/providers/transport/events.ts";
import { StreamDocument } from "../../../../src/gateway/providers/transport/other-forms.ts";
import type { BytesReceiver } from "../../../../src/gateway/providers/transport/transport.ts";

test("all bytes arrive in their order, and again after they were taken", () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 30 });
  fc.assert(
    fc.property(pieces, pieces, (first, second) => {
      const gathered = new GatheredBytes();
      for (const some of [first, second]) {
        for (const piece of some) gathered.add(piece);
        const whole = Buffer.concat(some);
        expect(gathered.length).toBe(whole.length);
        expect(Buffer.from(gathered.take())).toEqual(whole);
        expect(gathered.length).toBe(0);
      }
    }),
  );
});

test("the bytes of single bytes are copied a few times, not once for each of them", () => {
  let copied = 0;
  const set = spyOn(Uint8Array.prototype, "set").mockImplementation(function (this: Uint8Array, from: ArrayLike<number>, at = 0) {
    copied += from.length;
    for (let index = 0; index < from.length; index++) this[at + index] = from[index] ?? 0;
  });
  const bytes = 20_000;
  try {
    const gathered = new GatheredBytes();
    for (let byte = 0; byte < bytes; byte++) gathered.add(Uint8Array.of(byte));
    expect(gathered.take()).toHaveLength(bytes);
  } finally {
    set.mockRestore();
  }
  expect(copied).toBeLessThan(4 * bytes);
});

/** Gives these bytes one by one, and overwrites each but the first once it was given: who holds it then holds something else. */
function* singles(text: string): Generator<Uint8Array> {
  for (const [at, byte] of new TextEncoder().encode(text).entries()) {
    const piece = Uint8Array.of(byte);
    yield piece;
    if (at > 0) piece.fill(0x21);
  }
}

/** A body of single bytes. */
function bodyOf(text: string): UpstreamCall {
  const pieces = singles(text);
  const read = (receiver: BytesReceiver): void => void queueMicrotask(() => receiver.take(pieces.next().value ?? null));
  return { read } as unknown as UpstreamCall;
}

test("no piece of a whole answer, of an error, of an event, of a document and of what was read ahead is held", async () => {
  const answer = JSON.stringify({ choices: [{ message: { content: "Hello" }, finish_reason: "stop" }] });
  expect(await readWhole(bodyOf(answer), 1_000)).toBe(answer);
  expect(await readBeginning(bodyOf(answer), upstreamErrorBytesMax)).toBe(answer);
  const parser = new EventParser();
  const events: string[] = [];
  for (const piece of singles(`data: ${answer}\n\n`)) events.push(...parser.feed(piece));
  expect(events).toEqual([answer]);
  let document: StreamDocument | null = null;
  for (const piece of singles(answer)) (document ??= new StreamDocument(piece)).add(piece);
  const told: { kind: string }[] = [];
  document?.end(told as never, new EventSequence(openai.streamDecoder()), openai.decodeAnswer);
  expect(told).toMatchObject([{ kind: "delta", delta: { content: "Hello" } }, { kind: "end" }]);
  const call = new HttpCall({ pause() {}, resume() {}, release() {}, close() {} }, true);
  for (const piece of singles(answer)) call.piece(piece);
  let ahead = "";
  call.read({ take: (bytes) => void (ahead = new TextDecoder().decode(bytes ?? undefined)), fail() {} });
  expect(ahead).toBe(answer);
});

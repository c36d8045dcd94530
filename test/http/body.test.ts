import { expect, test } from "bun:test";
import { BodyReader, ByteThrottle } from "../../src/http/body.ts";
import { ManualClock, settled } from "../support/clock.ts";

const kibibyte = 1024;

function paced() {
  const clock = new ManualClock();
  const pace = new ByteThrottle(clock, 1_000 * kibibyte);
  const gone: string[] = [];
  const read = (who: string, bytes: number): void => void pace.read(bytes).then(() => gone.push(who));
  return { clock, read, gone };
}

test("a small body does not wait", async () => {
  const { read, gone } = paced();
  read("small", 8 * kibibyte);
  await settled();
  expect(gone).toEqual(["small"]);
});

test("all senders share one rate, in the order of their chunks", async () => {
  const { clock, read, gone } = paced();
  read("first", 500 * kibibyte);
  read("second", 500 * kibibyte);
  await clock.pass(499);
  expect(gone).toEqual([]);
  await clock.pass(1);
  expect(gone).toEqual(["first"]);
  await clock.pass(500);
  expect(gone).toEqual(["first", "second"]);
});

test("idle time does not allow a later burst", async () => {
  const { clock, read, gone } = paced();
  await clock.pass(60_000);
  read("late", 500 * kibibyte);
  await clock.pass(499);
  expect(gone).toEqual([]);
  await clock.pass(1);
  expect(gone).toEqual(["late"]);
});

test("a body of single bytes is copied as it arrives, so that no piece of it is held", async () => {
  const text = "Hello, weir";
  const bytes = new TextEncoder().encode(text);
  let last: Uint8Array<ArrayBuffer> | null = null;
  let at = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        // Whoever holds a piece but the first holds something else once the next one is asked for.
        if (at > 1) last?.fill(0x21);
        if (at === bytes.length) return controller.close();
        last = bytes.slice(at, ++at);
        controller.enqueue(last);
      },
    },
    { highWaterMark: 0 },
  );
  const read = await new BodyReader(body).readUpTo(text.length);
  expect(new TextDecoder().decode(read ?? undefined)).toBe(text);
});

import { expect, test } from "bun:test";
import { Exchange } from "../../src/providers/exchange.ts";
import { openai } from "../../src/providers/formats/openai.ts";
import { ProviderStream } from "../../src/providers/stream.ts";
import { ManualClock, settled } from "../support/clock.ts";
import { readAll } from "../support/call.ts";
import { chunk } from "../support/stub-answers.ts";

const clocks = { connectMs: 5_000, firstByteMs: 120_000, idleMs: 300_000, streamMs: 900_000 };

/** A stream over a body that counts how often it is asked for bytes. */
function counting(...pieces: string[]) {
  const clock = new ManualClock();
  const exchange = new Exchange({ clock, clocks, startedAt: clock.monotonic() });
  const counted = { pulls: 0, cancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[counted.pulls++];
        if (piece === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(piece));
      },
      cancel: () => void (counted.cancelled = true),
    },
    { highWaterMark: 0 },
  );
  exchange.sending();
  exchange.answered(new Response(body));
  return { counted, clock, stream: new ProviderStream({ exchange, decode: openai.streamDecoder(), clock }) };
}

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const three = ["a", "b", "c"].map((content) => event(chunk({ content }))).join("");
const done = `${event(chunk({}, "stop"))}data: [DONE]\n\n`;

test("nothing is read of the network before somebody asks", async () => {
  const { counted } = counting(three, done);
  await settled();
  expect(counted.pulls).toBe(0);
});

test("nothing more is read of the network while decoded events are left", async () => {
  const { counted, stream } = counting(three, done);
  for (const content of ["a", "b", "c"]) expect(await stream.next()).toMatchObject({ delta: { content } });
  await settled();
  expect(counted.pulls).toBe(1);
  expect(await stream.next()).toMatchObject({ finishReason: "stop" });
  expect(counted.pulls).toBe(2);
});

test("the end is told once, and nothing after it", async () => {
  const { stream } = counting(three, done, event(chunk({ content: "too late" })));
  expect(await readAll(stream)).toMatchObject({ text: "abc", last: "end" });
  expect(await stream.next()).toBeNull();
});

test("a failure is told once, and the rest of the body is given up", async () => {
  const { counted, stream } = counting(three, event({ error: { message: "x" } }), three);
  expect(await readAll(stream)).toMatchObject({ text: "abc", last: "failure" });
  expect(await stream.next()).toBeNull();
  expect(counted.cancelled).toBe(true);
});

test("what was left when the total clock ended the stream is not told any more", async () => {
  const { clock, stream } = counting(three, done);
  await stream.next();
  clock.advance(clocks.streamMs);
  expect(await stream.next()).toMatchObject({ kind: "failure", failure: { code: "upstream_timeout" } });
  expect(await stream.next()).toBeNull();
});

test("cancelled after its end, it leaves the body to be read out", async () => {
  const { counted, stream } = counting(`${three}${done}`, ": tail\n\n");
  await readAll(stream);
  await stream.cancel();
  await settled();
  expect(counted).toEqual({ pulls: 3, cancelled: false });
});

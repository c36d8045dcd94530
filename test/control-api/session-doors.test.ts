/** The door for files: what an upload over a poor connection meets while another one waits for its place. */
import { expect, test } from "bun:test";
import { memberLane } from "../../src/accounts/quotas/lane.ts";
import { fileDoor } from "../../src/control-api/session-doors.ts";
import { ManualClock, settled } from "../support/clock.ts";

const errors = {
  encoded: () => new Error("encoded"),
  incomplete: () => new Error("incomplete"),
  tooSlow: () => new Error("too slow"),
  tooLarge: () => new Error("too large"),
};

test("a person's upload survives pauses of a second while their next one waits, and gives way once it stops", async () => {
  const clock = new ManualClock();
  const { bodies } = fileDoor(clock);
  const lane = memberLane("a@a", "a");
  const receive = (body: string | ReadableStream) =>
    bodies.receive(new Request("http://weir/", { method: "POST", body }), lane, {
      bytesMax: 1024 * 1024,
      withinMs: 60_000,
      errors,
    });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  let first = "open";
  void receive(readable).then(
    () => (first = "whole"),
    (error: unknown) => (first = String(error)),
  );
  await settled();
  const second = receive("a small file");
  for (let pause = 0; pause < 5; pause++) {
    await clock.pass(1_000);
    expect(first).toBe("open");
    void writer.write(new Uint8Array(64 * 1024));
    await settled();
  }
  await clock.pass(4_000);
  expect(first).toBe("Error: too slow");
  expect((await second).bytes).toEqual(new TextEncoder().encode("a small file"));
});

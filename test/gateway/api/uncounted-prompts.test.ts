/** How long the prompts of open streams wait for their counts. */
import { expect, test } from "bun:test";
import { UncountedPrompts } from "../../../src/gateway/api/uncounted-prompts.ts";
import { countedForJournalBytesMax } from "../../../src/gateway/limits.ts";
import { ManualClock } from "../../support/clock.ts";

const clock = new ManualClock();
const holder = { key: "key-1", workspace: "ws-1" };

test("a second counts only so many bytes for the journal, and the guess stands for the others until their turn", () => {
  const prompts = new UncountedPrompts(clock);
  const bytes = countedForJournalBytesMax / 2;
  const waiting = Array.from({ length: 5 }, () => prompts.keep({ holder, bytes, estimate: () => 41 }));
  const tokens = (): number[] => waiting.map((prompt) => prompt.tokensSoFar());
  clock.advance(1_000);
  expect(tokens()).toEqual([41, 41, bytes / 4, bytes / 4, bytes / 4]);
  expect(tokens()).toEqual([41, 41, bytes / 4, bytes / 4, bytes / 4]);
  clock.advance(1_000);
  expect(tokens()).toEqual([41, 41, 41, 41, bytes / 4]);
  clock.advance(1_000);
  expect(tokens()).toEqual([41, 41, 41, 41, 41]);
  // What is counted waits no longer.
  expect(prompts.bytes).toBe(0);
});

test("the largest prompt is counted too, alone in its second", () => {
  const prompts = new UncountedPrompts(clock);
  const [one, other] = [2, 2].map((times) =>
    prompts.keep({ holder, bytes: times * countedForJournalBytesMax, estimate: () => 41 }),
  );
  clock.advance(1_000);
  expect([one?.tokensSoFar(), other?.tokensSoFar()]).toEqual([41, (2 * countedForJournalBytesMax) / 4]);
});

test("a workspace has half of the memory, and what ends gives its part back", () => {
  const prompts = new UncountedPrompts(clock, 1_000);
  let counted = 0;
  const keep = (workspace: string) =>
    prompts.keep({ holder: { key: `key of ${workspace}`, workspace }, bytes: 500, estimate: () => ++counted });
  const first = keep("ws-1");
  keep("ws-1");
  clock.advance(1);
  expect([counted, prompts.bytes]).toEqual([1, 500]);
  keep("ws-2");
  clock.advance(1);
  expect([counted, prompts.bytes]).toEqual([1, 1_000]);
  first[Symbol.dispose]();
  keep("ws-1");
  clock.advance(1);
  expect([counted, prompts.bytes]).toEqual([1, 1_000]);
});

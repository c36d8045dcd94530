import { describe, expect, test } from "bun:test";
import { failuresOf } from "../../bench/report/failures.ts";
import { drawQuestion, questionKinds } from "../../bench/usage/draw.ts";
import { readSpan } from "../../src/gateway/usage/periods.ts";
import { randomFrom } from "../support/random.ts";

describe("the bench of usage", () => {
  test("asks only what the service answers, and nothing after the end of the data", () => {
    const chance = randomFrom(1);
    const end = Date.UTC(2026, 10, 1);
    for (const kind of questionKinds) {
      for (let n = 0; n < 50; n++) {
        const { by, tz, from, to } = drawQuestion(kind, chance);
        expect(readSpan({ by, tz, from, to }, end).toMs).toBeLessThanOrEqual(end);
      }
    }
  });

  test("a run is invalid when an answer differs from the sum of the generations", () => {
    const machine = { processor: "", cores: 2, memoryGiB: 1, kernel: "", loadBefore: [] };
    const run = { at: "", command: "", commit: "", machine, versions: {}, leftOut: [], invalid: [] };
    const usage = { seed: 1, draws: 1, answerMs: {}, slowest: [], compared: 1, differing: ["one question"] };
    expect(failuresOf({ ...run, usage })).toEqual(["usage: the answer differs from the sum of the generations for one question"]);
  });
});

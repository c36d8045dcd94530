import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { readTally, tallyText } from "../../scripts/run-suite.ts";
import { filesOf, stagesOf, suites, type Suite } from "../../scripts/suites.ts";

const testFolder = dirname(import.meta.dir);

describe("every test file runs exactly once", () => {
  test("each file belongs to one suite, except the architecture test, which runs before them", () => {
    const files = suites.flatMap((suite) => filesOf(suite, testFolder));
    const there = readdirSync(testFolder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".test.ts"));
    expect(files.toSorted()).toEqual(
      there
        .filter((path) => path !== "architecture.test.ts")
        .map((path) => `./test/${path}`)
        .toSorted(),
    );
  });

  test("the budgets of the longest lane of each stage, with one for the checks, are at most six minutes", () => {
    const secondsOf = (lane: Suite[]) => lane.reduce((sum, { budgetSeconds }) => sum + budgetSeconds, 0);
    const stages = stagesOf(suites).map((lanes) => Math.max(...lanes.map(secondsOf)));
    const checksSeconds = 20;
    expect(stages.reduce((sum, seconds) => sum + seconds, checksSeconds)).toBeLessThanOrEqual(360);
  });
});

describe("the counts come from Bun's summary", () => {
  test("errors between tests count as failed, and todo tests as skipped", () => {
    const output = "...\n(fail) 3 pass\n\n 32 pass\n 1 skip\n 2 todo\n 3 fail\n 1 error\n 1 expect() calls\nRan 37 tests";
    expect(readTally(output)).toEqual({ passed: 32, failed: 3, skipped: 3 });
  });

  test("an earlier line that looks like a summary does not count", () => {
    expect(readTally(" 9 fail\n 8 pass\n...\n 5 pass\n 0 fail\nRan 5 tests")).toEqual({ passed: 5, failed: 0, skipped: 0 });
  });

  test("the counts of a process that died are zero", () => {
    expect(readTally("...")).toEqual({ passed: 0, failed: 0, skipped: 0 });
  });
});

describe("the summary", () => {
  test("the last line names the skipped tests only when there are any", () => {
    expect(tallyText({ passed: 3, failed: 0, skipped: 0 })).toBe("3 passed, 0 failed");
    expect(tallyText({ passed: 3, failed: 1, skipped: 2 })).toBe("3 passed, 1 failed, 2 skipped");
  });
});

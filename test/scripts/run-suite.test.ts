import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { failedTests, readTally, tallyText } from "../../scripts/run-suite.ts";
import { filesOf, lanesMax, runInLanes, suites, timedMax, type Suite } from "../../scripts/suites.ts";

const testFolder = dirname(import.meta.dir);

describe("every test file runs exactly once", () => {
  test("each file belongs to one suite, except the architecture test, which is one of the checks", () => {
    const files = suites.flatMap((suite) => filesOf(suite, testFolder));
    const there = readdirSync(testFolder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".test.ts"));
    expect(files.toSorted()).toEqual(
      there
        .filter((path) => path !== "architecture.test.ts")
        .map((path) => `./test/${path}`)
        .toSorted(),
    );
  });
});

/** Runs the suites in virtual time, each for its budget. Resolves to when the last ended, and what ran at the same time as each. */
async function played(): Promise<{ seconds: number; beside: Map<Suite, Suite[]> }> {
  const running = new Map<Suite, { endsAt: number; end: () => void }>();
  const beside = new Map<Suite, Suite[]>();
  let now = 0;
  let isOver = false;
  const whole = runInLanes(suites, lanesMax, (suite) => {
    beside.set(suite, [...running.keys()]);
    return new Promise((end) => running.set(suite, { endsAt: now + suite.budgetSeconds, end }));
  }).then(() => (isOver = true));
  while (!isOver) {
    const [first] = [...running].toSorted(([, a], [, b]) => a.endsAt - b.endsAt);
    if (first) {
      running.delete(first[0]);
      now = first[1].endsAt;
      first[1].end();
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  await whole;
  return { seconds: now, beside };
}

describe("the suites run in lanes", () => {
  test("all of them run, and few that are timed run at the same time", async () => {
    const { beside } = await played();
    expect(new Set(beside.keys())).toEqual(new Set(suites));
    const timed = [...beside].filter(([{ isTimed }]) => isTimed);
    expect(Math.max(...timed.map(([, others]) => others.filter(({ isTimed }) => isTimed).length))).toBe(timedMax - 1);
    expect(Math.max(...[...beside.values()].map((others) => others.length))).toBe(lanesMax - 1);
  });

  test("their budgets, with the start of the servers, fit into six minutes", async () => {
    const startSeconds = 10;
    expect((await played()).seconds + startSeconds).toBeLessThanOrEqual(360);
  });

  test("a suite that fails to start ends the run", async () => {
    const failing = runInLanes(suites, lanesMax, () => Promise.reject(new Error("cannot start")));
    expect(await failing.catch(String)).toBe("Error: cannot start");
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

test("the names of failed tests come from Bun's report, each once though it was tried twice", () => {
  const output =
    "...\n(fail) a > b [0.30ms]\nerror: (fail) no line of its own\n(fail) c [1.2s]\n(fail) a > b [0.28ms]\n 3 fail\n";
  expect(failedTests(output)).toEqual(["a > b", "c"]);
});

describe("the summary", () => {
  test("the last line names the skipped tests only when there are any", () => {
    expect(tallyText({ passed: 3, failed: 0, skipped: 0 })).toBe("3 passed, 0 failed");
    expect(tallyText({ passed: 3, failed: 1, skipped: 2 })).toBe("3 passed, 1 failed, 2 skipped");
  });
});

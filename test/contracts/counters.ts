/** The contract of both forms of the counters: every promise of src/backing/counters.ts, on a clock that the tests control. */
import { afterAll, beforeAll, beforeEach, describe } from "bun:test";
import { countersStartMs, type CountersHarness } from "../support/counters/harness.ts";
import { describeBlocks } from "./counters/blocks.ts";
import { describeBudgets } from "./counters/budgets.ts";
import { describeClaims } from "./counters/claims.ts";
import { describeDecisions } from "./counters/decisions.ts";
import { describeReadiness } from "./counters/readiness.ts";
import { describeResolution } from "./counters/resolution.ts";
import { describeWindow } from "./counters/window.ts";

/** @param open opens counters for exclusive use; they are emptied before each test */
export function describeCounters(name: string, open: () => Promise<CountersHarness>): void {
  describe(name, () => {
    let harness: CountersHarness | null = null;
    const of = (): CountersHarness => {
      if (harness === null) throw new Error("The counters are not open yet");
      return harness;
    };
    beforeAll(async () => void (harness = await open()), 60_000);
    beforeEach(async () => {
      await of().advance(countersStartMs - of().now());
      await of().wipe();
    });
    afterAll(() => of()[Symbol.asyncDispose]());
    describeReadiness(of);
    describeDecisions(of);
    describeWindow(of);
    describeResolution(of);
    describeBudgets(of);
    describeBlocks(of);
    describeClaims(of);
  });
}

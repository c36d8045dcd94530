import { expect, test } from "bun:test";
import fc from "fast-check";
import { CreditWorld, worldCredit, type Step } from "../../support/gateway/worlds/credit-world.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const place = { gateway: fc.nat(1), key: fc.nat(1) };
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant("admit" as const), ...place }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("abandon" as const), ...place }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("end" as const),
      which: fc.nat(20),
      promptTokens: fc.nat(100),
      completionTokens: fc.nat(50),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("deliver" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("repeat" as const), which: fc.nat(50) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wipe" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("kill" as const), gateway: fc.nat(1) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.nat(200) }) },
  { weight: 16, arbitrary: fc.record({ kind: fc.constant("turn" as const) }) },
);

test("credit covers every call that begins, and the counters end equal to the ledger, despite delays, losses, repeats, wipes and kills", async () => {
  await using folder = await temporaryFolder();
  let runs = 0;
  let called = 0;
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.array(step, { minLength: 20, maxLength: 150, size: "max" }), async (seed, steps) => {
      const world = new CreditWorld(seed, `${folder.path}/${runs++}`);
      try {
        await world.run(steps);
        await world.quiesce();
        world.assertSound();
        called += world.called;
        const { balance } = world.ledger.accounts.get("ws-1") ?? { balance: -1n };
        expect(balance).toBeGreaterThanOrEqual(0n);
        expect(balance).toBe(worldCredit - [...world.ledger.charges.values()].reduce((sum, { cost }) => sum + cost, 0n));
        expect(world.pendingReleases).toBe(0);
        for (const key of [0, 1]) {
          expect(await world.position(key)).toEqual({
            kind: "position",
            balance: balance.toString(),
            reserved: "0",
            lent: "0",
            blocks: [],
            keySpent: (world.ledger.keyMonths.get(`key-${key} 2026-11`)?.spent ?? 0n).toString(),
            month: "2026-11",
          });
        }
      } finally {
        world.close();
      }
    }),
    // Beyond this time a failure is shown as far as it is shrunk.
    { numRuns: 40, verbose: 1, interruptAfterTimeLimit: 40_000 },
  );
  expect(called).toBeGreaterThan(runs);
}, 60_000);

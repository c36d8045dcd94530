/** Sends a few of the malformed bodies; `npm run hostile` sends a hundred thousand. */
import { beforeAll, expect, test } from "bun:test";
import { expectExactLedger } from "../support/gateway/exact-ledger.ts";
import { stageApart, type Stage } from "../gateway/api/request/bad-input/stage.ts";
import { sendBodies } from "./bodies/send-bodies.ts";

/** Bodies of each seed: one seed is fixed, one is new in every run. */
const count = 1_000;

let on: Stage;
beforeAll(async () => void (on = await stageApart()), 60_000);

test.each([1, crypto.getRandomValues(new Uint32Array(1))[0] ?? 0])(
  `each of ${count} malformed bodies gets a 400 that names the field, or an answer: seed %p`,
  async (seed) => {
    const customer = await on.customer();
    const { answers, problems } = await sendBodies({ url: on.fleet.url(), keys: [customer.key], seed, count });
    expect(problems).toEqual([]);
    expect(answers["invalid_request"]).toBeGreaterThan(count / 5);
    expect(answers["unsupported_parameter"]).toBeGreaterThan(count / 20);
    await expectExactLedger(on.fleet.operator(), customer, { credit: "10", generations: answers["200"] ?? 0 });
    expect(on.fleet.gateways[0]?.process.running).toBe(true);
    expect(on.fleet.gateways[0]?.process.output).not.toContain("internal_error");
  },
  60_000,
);

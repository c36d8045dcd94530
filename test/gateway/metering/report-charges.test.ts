/** What a transaction booked, as graphs show it. */
import { expect, test } from "bun:test";
import { chargeOf } from "../../../src/gateway/metering/charge.ts";
import { CreditLeft } from "../../../src/gateway/metering/credit-left.ts";
import { reportCharges } from "../../../src/gateway/metering/report-charges.ts";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { registry } from "../../../src/kernel/metrics.ts";
import { modelLabelsMax } from "../../../src/gateway/limits.ts";
import { ManualClock } from "../../support/clock.ts";
import { settlement } from "../../support/gateway/settlements.ts";
import { usd } from "../../support/gateway/stored-money.ts";

const clock = new ManualClock();

function report(settlements: Settlement[], fresh = settlements): void {
  const charges = settlements.map(chargeOf);
  const booked = new Map(fresh.map((one) => [one.generation, chargeOf(one)]));
  const parts = { fresh: booked, refused: new Set<string>(), late: new Set<string>(), accounts: [], keyMonths: [] };
  reportCharges({ charges, booked: parts }, { clock, log: silentLog });
}

async function shown(series: string): Promise<number> {
  const line = (await registry.metrics()).split("\n").find((text) => text.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? 0);
}

const customer = { workspace: "ws-a", key: "key-a", provider: "reported" };
const usage = { promptTokens: 100, cachedTokens: 30, cacheWriteTokens: 20, completionTokens: 50, reasoningTokens: 10 };

test("tokens are counted by kind, each once, and a settlement that was booked before is not counted again", async () => {
  const [one, again] = [0, 1].map(() => settlement({ ...customer, model: "reported/tokens", usage }));
  if (!one || !again) throw new Error("There are two settlements");
  report([one, again], [one]);
  const kinds = ["prompt", "cached", "cache_write", "completion", "reasoning"];
  const counts = await Promise.all(
    kinds.map((kind) => shown(`weir_tokens_total{provider="reported",model="reported/tokens",kind="${kind}"}`)),
  );
  expect(counts).toEqual([50, 30, 20, 40, 10]);
});

test("the delay of a transaction is that of the answer that ended first", async () => {
  const before = await shown("weir_settlement_delay_seconds_sum");
  const admittedAt = clock.now() - 10_000;
  report([4_000, 7_000].map((durationMs) => settlement({ ...customer, admittedAt, durationMs })));
  expect((await shown("weir_settlement_delay_seconds_sum")) - before).toBeCloseTo(6, 5);
});

test("metrics name a bounded number of models, and count all others as one", async () => {
  for (let model = 0; model < modelLabelsMax + 2; model++) report([settlement({ ...customer, model: `many/${model}` })]);
  const named = (await registry.metrics()).matchAll(/^weir_charged_usd_total\{.*model="([^"]*)"/gm);
  expect(new Set([...named].map(([, model]) => model)).size).toBe(modelLabelsMax + 1);
  expect(await shown('weir_tokens_total{provider="reported",model="other",kind="prompt"}')).toBeGreaterThanOrEqual(200);
});

test("workspaces are counted by the credit that they have left, and debts are no credit", () => {
  const left = new CreditLeft();
  for (const balance of [-1n, 0n, 1n, usd - 1n, usd, 10n * usd - 1n, 10n * usd]) left.add(balance);
  expect(left.workspaces).toEqual({ "below 0": 1, "0": 1, "below 1": 2, "below 10": 2, "10 or more": 1 });
  expect(left.total).toBe(22n * usd - 1n);
});

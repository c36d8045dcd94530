/** Ended generations as gateways settle them, booked like metering does. */
import type { Database } from "../../../src/backing/backing.ts";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { monthOf } from "../../../src/kernel/clock.ts";
import { newGenerationId, newRequestId } from "../../../src/kernel/ids.ts";
import { chargeOf } from "../../../src/gateway/metering/settle.ts";
import { settlementStore } from "../../../src/gateway/metering/store.ts";

type Facts = Partial<Settlement> & Pick<Settlement, "workspace" | "key">;

/** One million input tokens cost one USD: `usage.promptTokens` 1 is 1,000 nano-USD. */
export function settlement({ admittedAt = Date.UTC(2026, 10, 20, 12), ...facts }: Facts): Settlement {
  return {
    generation: newGenerationId(admittedAt),
    request: newRequestId(admittedAt),
    month: monthOf(admittedAt),
    outcome: "settled",
    reserved: "1000000",
    admittedAt,
    model: "sandbox/echo",
    provider: "sandbox",
    prices: { input: "1000000", output: "2000000", cacheRead: "1000000", cacheWrite: "1000000" },
    usage: { promptTokens: 100, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 50, reasoningTokens: 0 },
    usageEstimated: false,
    status: 200,
    code: null,
    streamed: false,
    firstTokenMs: 12,
    durationMs: 34,
    ...facts,
  };
}

export async function book(sql: Database, ...settlements: Settlement[]): Promise<void> {
  await settlementStore(sql).settle(settlements.map(chargeOf));
}

/** The limits of calls of one gateway among others: each tells the others what it counted. */
import { randomUUID } from "node:crypto";
import type { Bus } from "../../../backing/bus.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { Counts } from "../../../accounts/quotas/call-rate-limiter.ts";
import { CallLimits } from "./call-limits.ts";

/** For as long as the bus is there. */
export function sharedCallLimits(bus: Pick<Bus, "broadcast" | "listen">, clock: Clock): CallLimits {
  const own = randomUUID();
  const share = (counts: Counts): void => bus.broadcast("tools-calls", encoder.encode(JSON.stringify([own, counts])));
  const limits = new CallLimits({ clock, share });
  bus.listen("tools-calls", (payload) => {
    const { gateway, counts } = decodeCounts(payload);
    if (gateway !== own) limits.rates.addOthers(counts);
  });
  return limits;
}

const encoder = new TextEncoder();

/** Gateways alone write it. */
function decodeCounts(payload: Uint8Array): { gateway: string; counts: Counts } {
  const [gateway, counts] = JSON.parse(new TextDecoder().decode(payload)) as [string, Counts];
  return { gateway, counts };
}

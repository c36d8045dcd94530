/** Call limits that all gateways of a fleet share by exchanging their counts. */
import { randomUUID } from "node:crypto";
import type { Bus } from "../../../backing/bus.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { Counts } from "../../../accounts/quotas/call-rate-limiter.ts";
import { CallLimits } from "./call-limits.ts";

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

/** Only gateways write it. */
function decodeCounts(payload: Uint8Array): { gateway: string; counts: Counts } {
  const [gateway, counts] = JSON.parse(new TextDecoder().decode(payload)) as [string, Counts];
  return { gateway, counts };
}

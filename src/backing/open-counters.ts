/** The counters of a fleet, for its admission and metering workers; one process has its own in memory. */
import type { Config } from "../config.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import type { Counters } from "./counters.ts";
import { openDistributedCounters } from "./redis/counters.ts";

export async function openCounters({ config, clock, log }: { config: Config; clock: Clock; log: Logger }): Promise<Counters> {
  const { backends } = config;
  if (backends.mode !== "distributed") throw new Error("Cannot open counters of a fleet: this process has its own");
  return openDistributedCounters({ url: backends.redisUrl, clock, log });
}

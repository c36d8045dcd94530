/** What a Redis says of itself. */
import type { Logger } from "../../../kernel/log.ts";

export interface Server {
  /**
   * Another one after every restart: what was counted under another run is verified before it counts again.
   * Longer than 64 bytes, for then Redis keeps the hash that holds it as a table; its compact form is read from end to end.
   */
  run: string;
  clustered: boolean;
}

/** Redis's own default of hash-max-listpack-value, and one more. */
const tableValueBytesMin = 65;

/** @throws Error when INFO does not name the run */
export function readServer(info: string): Server {
  const run = /^run_id:(\S+)/m.exec(info)?.[1];
  if (run === undefined) throw new Error("Cannot use Redis: its INFO has no run_id");
  return { run: run.padEnd(tableValueBytesMin, "-"), clustered: /^cluster_enabled:1/m.test(info) };
}

const settings = [
  { name: "appendonly", wanted: "yes", why: "a restart loses what was counted, and each workspace waits until it is rebuilt" },
  { name: "maxmemory-policy", wanted: "noeviction", why: "counters must not be evicted; out of memory is refused safely" },
];

/** Logs what is set otherwise than it should be. Where settings may not be read, nothing is said. */
export async function warnOfSettings(read: (name: string) => Promise<Record<string, string>>, log: Logger): Promise<void> {
  for (const { name, wanted, why } of settings) {
    const value = (await read(name).catch(() => ({}) as Record<string, string>))[name];
    if (value !== undefined && value !== wanted) {
      log.warn({ event: "redis.setting", setting: name, value, wanted }, `Redis should run with "${name} ${wanted}": ${why}`);
    }
  }
}

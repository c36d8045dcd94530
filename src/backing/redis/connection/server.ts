/** Which server answers behind a connection, and whether its settings are safe. */
import { createHash } from "node:crypto";
import type { Logger } from "../../../kernel/log.ts";

export interface Server {
  /** It changes with every restart: counters of another run are verified before they count again. 52 bits. */
  run: number;
  clustered: boolean;
}

/** The version of the stored layout. Counters of another layout are verified as after a restart. */
const layout = 2;

/** @throws Error when INFO does not name the run */
export function readServer(info: string): Server {
  const run = /^run_id:(\S+)/m.exec(info)?.[1];
  if (run === undefined) throw new Error("Cannot use Redis: its INFO has no run_id");
  const digest = createHash("sha256").update(`${run} ${layout}`).digest("hex");
  return { run: Number.parseInt(digest.slice(0, 13), 16), clustered: /^cluster_enabled:1/m.test(info) };
}

const settings = [
  { name: "appendonly", wanted: "yes", why: "a restart loses what was counted, and each workspace waits until it is rebuilt" },
  { name: "maxmemory-policy", wanted: "noeviction", why: "counters must not be evicted; out of memory is refused safely" },
];

/** Logs settings that endanger the counters. Where settings may not be read, it logs nothing. @param configGet runs CONFIG GET */
export async function warnOfSettings(configGet: (name: string) => Promise<unknown>, log: Logger): Promise<void> {
  for (const { name, wanted, why } of settings) {
    const value = settingIn(await configGet(name).catch(() => null), name);
    if (value !== null && value !== wanted) {
      log.warn({ event: "redis.setting", setting: name, value, wanted }, `Redis should run with "${name} ${wanted}": ${why}`);
    }
  }
}

/** @param reply a map by names */
function settingIn(reply: unknown, name: string): string | null {
  if (typeof reply !== "object" || reply === null) return null;
  const value: unknown = Reflect.get(reply, name);
  return typeof value === "string" ? value : null;
}

/** Which server answers behind a connection, and whether its settings are safe. */
import { createHash } from "node:crypto";
import type { Logger } from "../../../kernel/log.ts";

export interface Server {
  /** It changes with every restart: counters of another run are verified before they count again. 52 bits. */
  run: number;
  clustered: boolean;
  /** Takes no writes. */
  isReplica: boolean;
}

/** The version of the stored layout. Counters of another layout are verified as after a restart. */
const layout = 2;

/** @throws Error when INFO does not name the run */
export function readServer(info: string): Server {
  const run = /^run_id:(\S+)/m.exec(info)?.[1];
  if (run === undefined) throw new Error("Cannot use Redis: its INFO has no run_id");
  return { run: runNamed(`${run} ${layout}`), clustered: /^cluster_enabled:1/m.test(info), isReplica: /^role:slave/m.test(info) };
}

/**
 * The run of a master in a cluster: it changes with every restart, and with every promotion, since a replica that becomes the master
 * may lack the last writes of the one before.
 * @param replication INFO of this section. @returns null: it is no master
 */
export function readMasterRun({ run }: Server, replication: string): number | null {
  const history = /^master_replid:(\S+)/m.exec(replication)?.[1];
  return history === undefined || !/^role:master/m.test(replication) ? null : runNamed(`${run} ${history}`);
}

function runNamed(name: string): number {
  return Number.parseInt(createHash("sha256").update(name).digest("hex").slice(0, 13), 16);
}

interface Setting {
  name: string;
  wanted: string;
  why: string;
}

const settings: Setting[] = [
  { name: "appendonly", wanted: "yes", why: "a restart loses what was counted, and each workspace waits until it is rebuilt" },
  { name: "maxmemory-policy", wanted: "noeviction", why: "counters must not be evicted; out of memory is refused safely" },
];

const clusterSettings: Setting[] = [
  ...settings,
  {
    name: "cluster-require-full-coverage",
    wanted: "no",
    why: "without one master all others refuse, too, until its replica is promoted",
  },
];

/** Logs settings that endanger the counters. Where settings may not be read, it logs nothing. @param configGet runs CONFIG GET */
export async function warnOfSettings(
  { clustered }: Server,
  { configGet, log }: { configGet: (name: string) => Promise<unknown>; log: Logger },
): Promise<void> {
  for (const { name, wanted, why } of clustered ? clusterSettings : settings) {
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

/** The results of a bench run, of all parts that ran, and the machine. */
import { cpus, loadavg, release, totalmem } from "node:os";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findServers } from "../../scripts/services/find-servers.ts";
import { environmentOf, type Program } from "../../scripts/services/program.ts";
import type { MicroResult } from "../micro/run.ts";
import type { AgentRun } from "../parts/agent.ts";
import type { Bodies } from "../parts/bodies.ts";
import type { Catalog } from "../parts/catalog.ts";
import type { ConsoleTimes } from "../parts/console.ts";
import type { Embeddings } from "../parts/embeddings.ts";
import type { Features } from "../parts/features.ts";
import type { Fleet } from "../parts/fleet.ts";
import type { Hosts } from "../parts/hosts.ts";
import type { HotPath } from "../parts/hot-path.ts";
import type { Lists } from "../parts/lists.ts";
import type { Log } from "../parts/log.ts";
import type { Metering } from "../parts/metering.ts";
import type { PeersRun } from "../parts/peers.ts";
import type { Shards } from "../parts/shards.ts";
import type { Soak } from "../parts/soak.ts";
import type { Streams } from "../parts/stream.ts";
import type { Usage } from "../parts/usage.ts";
import { root } from "../paths.ts";

export interface Facts {
  at: string;
  command: string;
  commit: string;
  machine: { processor: string; cores: number; memoryGiB: number; kernel: string; loadBefore: number[] };
  versions: Record<string, string>;
  /** A line for each skipped contender. */
  leftOut: string[];
  /** Why this run is invalid; empty: it is valid. */
  invalid: string[];
  hotPath?: HotPath;
  peers?: PeersRun;
  agent?: AgentRun;
  bodies?: Bodies;
  embeddings?: Embeddings;
  features?: Features;
  fleet?: Fleet;
  streams?: Streams;
  soak?: Soak;
  catalog?: Catalog;
  lists?: Lists;
  log?: Log;
  hosts?: Hosts;
  usage?: Usage;
  shards?: Shards;
  metering?: Metering;
  console?: ConsoleTimes;
  micro?: MicroResult[];
}

/** The parts of a whole run. */
export const partNames = [
  "hotPath",
  "agent",
  "bodies",
  "features",
  "fleet",
  "streams",
  "soak",
  "catalog",
  "shards",
  "metering",
  "console",
  "micro",
] as const;

export function factsHere(command: string): Facts {
  const { model = "unknown" } = cpus()[0] ?? {};
  const memoryGiB = Number((totalmem() / 2 ** 30).toFixed(1));
  return {
    at: new Date().toISOString(),
    command,
    commit: outputOf("git", ["-C", root, "rev-parse", "--short", "HEAD"]),
    machine: { processor: model, cores: cpus().length, memoryGiB, kernel: release(), loadBefore: loadavg() },
    versions: {
      Bun: process.versions.bun ?? "",
      Node: outputOf("node", ["--version"]),
      Elysia: String(JSON.parse(readFileSync(join(root, "node_modules/elysia/package.json"), "utf8")).version),
    },
    leftOut: [],
    invalid: [],
  };
}

/** The versions of the run's servers; empty when they were not found. */
export async function serverVersions(): Promise<Record<string, string>> {
  const servers = await findServers();
  if ("missing" in servers) return {};
  const versionOf = (server: Program): string =>
    /\d+(\.\d+)+/.exec(outputOf(server.path, ["--version"], environmentOf(server)))?.[0] ?? "";
  const { nats, redis, postgres } = servers;
  return { NATS: versionOf(nats), Redis: versionOf(redis), PostgreSQL: versionOf(postgres) };
}

/** @returns "" when the program is missing */
function outputOf(program: string, words: string[], env = process.env): string {
  const { status, stdout } = spawnSync(program, words, { encoding: "utf8", env });
  return status === 0 ? stdout.trim() : "";
}

/** Servers that the tests of the backing may kill and freeze, one at a time. */
import { readdirSync, readFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import type { Servers } from "../../scripts/services/find-servers.ts";
import { startNats } from "../../scripts/services/nats.ts";
import { startPostgres } from "../../scripts/services/postgres.ts";
import type { Server } from "../../scripts/services/server.ts";
import { temporaryFolder, testServers } from "../support/servers/services.ts";
import { until } from "../support/until.ts";

const servers = await testServers();

export const serversMissing = servers === null;

/** @param folder where an earlier one left its data */
export async function openNats(folder?: string): Promise<Server> {
  return await startNats({ program: programs().nats, folder: folder ?? (await temporaryFolder("nats")) });
}

/** @param isEmpty whether it is made anew, without a schema; by default it begins with the data of the tests' servers, which costs less */
export async function openPostgresServer({ isEmpty = false } = {}): Promise<Server> {
  const folder = await temporaryFolder("postgres");
  await chmod(folder, 0o755);
  return await startPostgres({ program: programs().postgres, folder, ...(isEmpty && { template: null }) });
}

function programs(): Servers {
  if (servers === null) throw new Error("There are no servers on this machine");
  return servers;
}

/**
 * Stops a server in the middle of whatever it does, with every process that it has; returns what lets it go on. It resolves when all
 * threads have stopped: on a busy machine a thread answers questions until the signal reaches it.
 */
export async function freeze(server: Server): Promise<() => void> {
  const pids = family(server.pid);
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  await until(() => pids.every(isStopped));
  return () => {
    for (const pid of pids.toReversed()) process.kill(pid, "SIGCONT");
  };
}

function isStopped(pid: number): boolean {
  const states = readdirSync(`/proc/${pid}/task`).map((thread) => readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8"));
  return states.every((state) => /\) T /.test(state));
}

function family(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  return [pid, ...children.flatMap(family)];
}

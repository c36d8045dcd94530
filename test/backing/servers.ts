/** Real servers for the tests of the backing, each with its data in a folder that goes when the server does. */
import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findServers } from "../../scripts/services/find-servers.ts";
import { startNats } from "../../scripts/services/nats.ts";
import { startPostgres } from "../../scripts/services/postgres.ts";
import type { Server } from "../../scripts/services/server.ts";

const found = await findServers();

/** null: the servers are here; else what to install. */
export const missing: string | null = "missing" in found ? found.missing : null;

export async function openNats(): Promise<Server & AsyncDisposable> {
  if ("missing" in found) throw new Error(found.missing);
  const folder = await temporaryFolder();
  return withFolder(await startNats({ program: found.nats, folder }), folder);
}

export async function openPostgresServer(): Promise<Server & AsyncDisposable> {
  if ("missing" in found) throw new Error(found.missing);
  const folder = await temporaryFolder();
  return withFolder(await startPostgres({ program: found.postgres, folder }), folder);
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "weir-backing-"));
  await chmod(folder, 0o755);
  return folder;
}

function withFolder(server: Server, folder: string): Server & AsyncDisposable {
  const stop = server.stop.bind(server);
  return Object.assign(server, {
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  });
}

/** Stops a server in the middle of whatever it does, with every process that it has; resolves to what lets it go on. */
export function freeze(server: Server): () => void {
  const pids = family(server.pid);
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  return () => {
    for (const pid of pids.toReversed()) process.kill(pid, "SIGCONT");
  };
}

function family(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  return [pid, ...children.flatMap(family)];
}

/**
 * Starts a NATS server with JetStream on loopback, from a program on this machine.
 *
 * Without `access` one user may do everything; a fleet gives each role its own user, as `deploy/nats` does.
 */
import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { exchange, freePort } from "./ports.ts";
import { openFolder, Server } from "./server.ts";
import type { Program } from "./program.ts";
import { goStart } from "./share-core.ts";

export interface NatsOptions {
  program: Program;
  /** Its streams, its password and its log. */
  folder: string;
  port?: number;
  /** Further lines of its configuration. */
  settings?: string[];
  /** Who may connect, instead of one user with a new password. */
  access?: NatsAccess;
}

export interface NatsAccess {
  /** The lines of its configuration. */
  settings: string[];
  /** Variables that the settings name. */
  environment?: Record<string, string>;
  /** The user and the password in its URL. */
  user: string;
  password: string;
}

/** A NATS server with JetStream on loopback, with a password. */
export async function startNats({ program, folder, port: wanted, settings = [], access }: NatsOptions): Promise<Server> {
  const port = wanted ?? (await freePort());
  const { home, password: own } = await openFolder(folder, null);
  const { user, password, settings: users, environment: variables = {} } = access ?? accessOf("weir", own);
  const config = join(home, "nats.conf");
  const lines = [
    `listen: "127.0.0.1:${port}"`,
    `jetstream { store_dir: ${JSON.stringify(join(home, "streams"))} }`,
    ...users,
    ...settings,
  ];
  await writeFile(config, lines.join("\n"), { mode: 0o600 });
  const { environment, prefix } = goStart();
  return await Server.start({
    name: "nats-server",
    program,
    arguments: ["--config", config],
    environment: { ...environment, ...variables },
    prefix,
    folder: home,
    port,
    url: `nats://${user}:${password}@127.0.0.1:${port}`,
    user: null,
    stopSignal: "SIGTERM",
    abortSignal: "SIGKILL",
    ready: async () => {
      await exchange({ port, send: "", expect: /^INFO .*"jetstream":true/ });
    },
  });
}

/** One user, who may do everything. */
export function accessOf(user: string, password: string): NatsAccess {
  return { user, password, settings: [`authorization { user: ${user}, password: "${password}" }`] };
}

import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { exchange } from "./exchange.ts";
import { freePort } from "./free-port.ts";
import { openFolder } from "./open-folder.ts";
import type { Program } from "./program.ts";
import { Server } from "./server.ts";
import { goStart } from "./share-core.ts";

export interface NatsOptions {
  program: Program;
  /** Its streams, its password and its log. */
  folder: string;
  port?: number;
}

/** A NATS server with JetStream on loopback, with a password. */
export async function startNats({ program, folder, port: wanted }: NatsOptions): Promise<Server> {
  const port = wanted ?? (await freePort());
  const { home, password } = await openFolder(folder, null);
  const config = join(home, "nats.conf");
  const settings = [
    `listen: "127.0.0.1:${port}"`,
    `jetstream { store_dir: ${JSON.stringify(join(home, "streams"))} }`,
    `authorization { user: weir, password: "${password}" }`,
  ];
  await writeFile(config, settings.join("\n"), { mode: 0o600 });
  return await Server.start({
    name: "nats-server",
    program,
    arguments: ["--config", config],
    ...goStart(),
    folder: home,
    port,
    url: `nats://weir:${password}@127.0.0.1:${port}`,
    user: null,
    stopSignal: "SIGTERM",
    abortSignal: "SIGKILL",
    ready: async () => {
      await exchange({ port, send: "", expect: /^INFO .*"jetstream":true/ });
    },
  });
}

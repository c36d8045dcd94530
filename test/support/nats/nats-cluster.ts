/** A cluster of three NATS servers on loopback. The network between the last one and the others can be cut. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { freePort } from "../../../scripts/services/ports.ts";
import { accessOf, startNats } from "../../../scripts/services/nats.ts";
import type { Program } from "../../../scripts/services/program.ts";
import type { Server } from "../../../scripts/services/server.ts";
import { TcpProxy } from "../../chaos/harness/world/tcp-proxy.ts";

export interface NatsCluster extends AsyncDisposable {
  /** Of all servers. */
  url: string;
  servers: [Server, Server, Server];
  /** Cuts the last server off from the others, but not from its clients; returns what connects it again. */
  cutLast(): () => void;
}

const host = "127.0.0.1";

/** Resolves when all servers answer; they may not have found each other yet. */
export async function startNatsCluster({ program, folder }: { program: Program; folder: string }): Promise<NatsCluster> {
  await using stack = new AsyncDisposableStack();
  const access = accessOf("weir", randomBytes(24).toString("hex"));
  const [one, two, last] = [await freePort(), await freePort(), await freePort()];
  // Servers tell each other where to connect to each, so each has a way that can be cut. The first two have another to each other.
  const [toOne, toTwo, toLast] = [
    stack.use(await TcpProxy.start(one)),
    stack.use(await TcpProxy.start(two)),
    stack.use(await TcpProxy.start(last)),
  ];
  const start = async (name: string, { port, told, routes }: { port: number; told: TcpProxy; routes: number[] }) =>
    startNats({
      program,
      folder: join(folder, name),
      access,
      settings: [
        `server_name: ${name}`,
        `ping_interval: "1s"`,
        `cluster {`,
        `  name: weir, listen: "${host}:${port}", advertise: "${host}:${told.port}"`,
        `  routes: [${routes.map((route) => `"nats-route://${host}:${route}"`).join(", ")}]`,
        `}`,
      ],
    });
  const starting = [
    start("one", { port: one, told: toOne, routes: [two, toLast.port] }),
    start("two", { port: two, told: toTwo, routes: [one, toLast.port] }),
    start("last", { port: last, told: toLast, routes: [toOne.port, toTwo.port] }),
  ] as const;
  for (const outcome of await Promise.allSettled(starting)) if (outcome.status === "fulfilled") stack.use(outcome.value);
  const servers = await Promise.all(starting);
  const kept = stack.move();
  return {
    url: servers.map(({ url }) => url).join(","),
    servers,
    cutLast() {
      const set = (kind: "cut" | "healthy"): void => [toOne, toTwo, toLast].forEach((way) => way.set({ kind }));
      set("cut");
      return () => set("healthy");
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

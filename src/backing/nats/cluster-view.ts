/**
 * A server that is cut off from its cluster still serves its clients, but these reach no client of another server, and no event is
 * stored. Servers tell their clients which servers they see: a client whose server sees less than half looks for one that sees more.
 */
import type { ConnectionOptions, NatsConnection } from "nats";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import { busClusterLookMs } from "../limits.ts";
import { connectNats } from "./nats-connect.ts";

export interface ClusterViewParts {
  connection: NatsConnection;
  /** Of the connection. */
  options: ConnectionOptions;
  clock: Clock;
  log: Logger;
}

/** Moves the connection to another server where its own sees too few. Until disposed. */
export function leaveLoneServers({ connection, options, clock, log }: ClusterViewParts): AsyncDisposable {
  const servers = [options.servers ?? []].flat();
  if (servers.length < 2) return new AsyncDisposableStack();
  return repeatUntilStopped({
    clock,
    async round() {
      const own = seenBy(connection);
      if (own === null || own * 2 >= servers.length || !(await isBetterElsewhere(own))) return;
      log.warn({ event: "bus.server.alone", link: options.name, server: connection.getServer(), sees: own });
      await connection.reconnect();
    },
    everyMs: busClusterLookMs,
    pauseFirst: true,
    onError: (error) => log.warn({ event: "bus.view.failed", reason: String(error) }),
  });

  async function isBetterElsewhere(own: number): Promise<boolean> {
    const others = servers.filter((server) => server !== connection.getServer());
    const views = await Promise.all(others.map((server) => viewOf(server, options)));
    return views.some((seen) => seen > own);
  }
}

/** How many servers the cluster has, as this server sees it. 0: it does not answer. */
async function viewOf(server: string, options: ConnectionOptions): Promise<number> {
  try {
    const connection = await connectNats({ ...options, servers: server, reconnect: false, maxReconnectAttempts: 0 });
    const seen = seenBy(connection);
    await connection.close();
    return seen ?? 0;
  } catch {
    return 0;
  }
}

/** null: the server does not say, as where its configuration forbids it. */
function seenBy(connection: NatsConnection): number | null {
  return connection.info?.connect_urls?.length ?? null;
}

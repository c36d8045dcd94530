/**
 * `bun reaching-process.ts JSON`, a list of addresses: connects to each server of a fleet as the service does, or to Redis by the package
 * for other runtimes, all at the same time; prints a JSON list of "reached", or why it failed.
 */
import { pino } from "pino";
import { openDistributedCounters } from "../../../src/backing/redis/counters.ts";
import { connectPackageClient } from "../../../src/backing/redis/package-client.ts";
import { NatsLink } from "../../../src/backing/nats/link.ts";
import { openPostgres } from "../../../src/backing/postgres/postgres.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import type { Logger } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { until } from "../until.ts";

export interface Reaching {
  address: string;
  /** Which one connects to a Redis; empty: it is no Redis. */
  client: "bun" | "package" | "";
}

interface Way {
  url: Secret;
  client: Reaching["client"];
  log: Logger;
  refuse(reason: unknown): void;
}

const clock = systemClock;

const reach: Record<string, (way: Way) => Promise<unknown>> = {
  async postgres({ url }) {
    const { sql } = openPostgres({ url, applicationName: "reaching", clock });
    const [row] = await sql<{ ssl: boolean }[]>`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`;
    if (row?.ssl !== true) throw new Error("in plain text");
  },
  tls({ url, log }) {
    const link = new NatsLink({ url, name: "reaching", clock, log });
    return until(() => link.up);
  },
  async rediss({ url, client, log, refuse }) {
    if (client === "package") return await connectPackageClient({ url, connectMsMax: 10_000, closed: refuse }).send("PING", []);
    const counters = await openDistributedCounters({ url, clock, log });
    return await until(() =>
      counters.read("ws-none", null).then(
        () => true,
        (error: unknown) => !String(error).includes("not connected"),
      ),
    );
  },
};

async function outcomeOf({ address, client }: Reaching): Promise<string> {
  const refused = Promise.withResolvers<never>();
  /** An endlessly retried connection logs why it failed. */
  const log = pino({ level: "warn" }, { write: (line: string) => refused.reject(new Error(line.trim())) });
  const way = { url: new Secret(address), client, log, refuse: refused.reject };
  try {
    await Promise.race([reach[new URL(address).protocol.replace(":", "")]?.(way), refused.promise]);
    return "reached";
  } catch (error) {
    return String(error);
  }
}

const asked: Reaching[] = JSON.parse(process.argv[2] ?? "[]");
console.log(JSON.stringify(await Promise.all(asked.map(outcomeOf))));
process.exit();

/**
 * `bun reaching-process.ts URL [package]`: connects to a server of a fleet as the service does, or to Redis by the package for other
 * runtimes; prints "reached", or why it failed.
 */
import { pino } from "pino";
import { openDistributedCounters } from "../../../src/backing/redis/counters.ts";
import { connectPackageClient } from "../../../src/backing/redis/package-client.ts";
import { NatsLink } from "../../../src/backing/nats/link.ts";
import { openPostgres } from "../../../src/backing/postgres/postgres.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { until } from "../until.ts";

const [, , address = "", client] = process.argv;
const url = new Secret(address);
const refused = Promise.withResolvers<never>();
/** An endlessly retried connection logs why it failed. */
const log = pino({ level: "warn" }, { write: (line: string) => refused.reject(new Error(line.trim())) });
const parts = { clock: systemClock, log };

const reach: Record<string, () => Promise<unknown>> = {
  async postgres() {
    const { sql } = openPostgres({ url, applicationName: "reaching", clock: systemClock });
    const [row] = await sql<{ ssl: boolean }[]>`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`;
    if (row?.ssl !== true) throw new Error("in plain text");
  },
  tls() {
    const link = new NatsLink({ url, name: "reaching", ...parts });
    return until(() => link.up);
  },
  async rediss() {
    if (client === "package") {
      return await connectPackageClient({ url, connectMsMax: 10_000, closed: refused.reject }).send("PING", []);
    }
    const counters = await openDistributedCounters({ url, ...parts });
    return await until(() =>
      counters.read("ws-none", null).then(
        () => true,
        (error: unknown) => !String(error).includes("not connected"),
      ),
    );
  },
};

try {
  await Promise.race([reach[new URL(address).protocol.replace(":", "")]?.(), refused.promise]);
  console.log("reached");
} catch (error) {
  console.log(String(error));
}
process.exit();

/** `bun reaching-process.ts URL`: reaches a server of a fleet as our processes do, and prints "reached", or why it did not. */
import { pino } from "pino";
import { openDistributedCounters } from "../../../src/backing/redis/counters.ts";
import { NatsLink } from "../../../src/backing/nats/nats-link.ts";
import { openPostgres } from "../../../src/backing/postgres/postgres.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { until } from "../until.ts";

const [, , address = ""] = process.argv;
const url = new Secret(address);
const refused = Promise.withResolvers<never>();
/** What is tried again and again says in the log why it failed. */
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
    const counters = await openDistributedCounters({ url, ...parts });
    await until(() =>
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

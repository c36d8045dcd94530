/** A process that scans the waiting projects of a database until it is killed. */
import { openPostgres } from "../../../src/backing/postgres/postgres.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { startScanner } from "../../../workers/scanner.ts";

const url = new Secret(process.argv[2] ?? "");
const { sql } = openPostgres({ url, applicationName: "weir scanner", clock: systemClock });
startScanner({ sql, bus: { listen: () => ({ [Symbol.dispose]() {} }) }, clock: systemClock, log: silentLog });

/** What `src/main.ts` serves in one process, behind Deno's own server: database, counters, workers and all. */
import { readConfig } from "../../../src/config.ts";
import { openEmbedded } from "../../../src/server/embedded.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { openLog } from "../../../src/kernel/log.ts";

/** As much of it as is used here: its types are not installed. */
declare const Deno: {
  serve(
    options: { port: number; hostname: string; onListen(address: { port: number }): void },
    handler: (request: Request) => Response | Promise<Response>,
  ): unknown;
};

const config = readConfig();
const service = await openEmbedded({ config, log: openLog(config.logLevel, "gateway"), clock: systemClock });
const onListen = ({ port }: { port: number }): void => console.log(`listening on port ${port}`);
Deno.serve({ port: config.port, hostname: config.host, onListen }, service.app.fetch);

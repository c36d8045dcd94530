/** The service of `src/main.ts`, one process or the gateway of a fleet, behind Deno's own server. */
import { readConfig } from "../../../src/config.ts";
import { openDistributed } from "../../../src/server/distributed.ts";
import { openEmbedded } from "../../../src/server/embedded.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { openLog } from "../../../src/kernel/log.ts";

/** Only the part in use: Deno's types are not installed. */
declare const Deno: {
  serve(
    options: { port: number; hostname: string; onListen(address: { port: number }): void },
    handler: (request: Request) => Response | Promise<Response>,
  ): unknown;
};

const config = readConfig();
const open = config.backends.mode === "distributed" ? openDistributed : openEmbedded;
const service = await open({ config, log: openLog(config, "gateway"), clock: systemClock });
const onListen = ({ port }: { port: number }): void => console.log(`listening on port ${port}`);
Deno.serve({ port: config.port, hostname: config.host, onListen }, service.app.fetch);

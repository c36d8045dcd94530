/**
 * A process that replies "yes" and its process id to each request, after a pause for work, until it is killed. Without the pause, those
 * who ask as fast as they get replies would take every core.
 */
import { DistributedBus } from "../../../src/backing/nats/bus.ts";
import { sleep, systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";

const workMs = 4;
const bus = new DistributedBus({ url: new Secret(process.argv[2] ?? ""), name: "answering", clock: systemClock, log: silentLog });
await bus.serve("admission", async () => {
  await sleep(systemClock, workMs);
  return new TextEncoder().encode(`yes from ${process.pid}`);
});
console.log("serving");

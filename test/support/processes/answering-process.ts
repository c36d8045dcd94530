/** A process that replies "yes" and its process id to each request, until it is killed. */
import { DistributedBus } from "../../../src/backing/nats/bus.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";

const bus = new DistributedBus({ url: new Secret(process.argv[2] ?? ""), name: "answering", clock: systemClock, log: silentLog });
await bus.serve("admission", async () => new TextEncoder().encode(`yes from ${process.pid}`));
console.log("serving");

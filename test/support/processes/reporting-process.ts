/** A process that answers scatter requests until it is killed. */
import { DistributedBus } from "../../../src/backing/nats/bus.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";

const bus = new DistributedBus({ url: new Secret(process.argv[2] ?? ""), name: "reporting", clock: systemClock, log: silentLog });
bus.serveScatter("open-generations", () => new TextEncoder().encode(`reported by ${process.pid}`));
console.log("reporting");

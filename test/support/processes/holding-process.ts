/** A process that takes events and never handles them, until it is killed. */
import { DistributedBus } from "../../../src/backing/nats/bus.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { until } from "../until.ts";

const bus = new DistributedBus({ url: new Secret(process.argv[2] ?? ""), name: "holding", clock: systemClock, log: silentLog });
await bus.consume("settlements", { messagesMax: 100 }, () => new Promise(() => {}));
await until(() => bus.connected());
console.log("consuming");

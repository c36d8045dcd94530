import { jetstreamManager } from "@nats-io/jetstream";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect } from "nats";
import type { Server } from "../../../scripts/services/server.ts";
import type { Bus, Delivered } from "../../../src/backing/bus.ts";
import { DistributedBus } from "../../../src/backing/nats/bus.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { OurProcess } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";
import { openNats, serversMissing } from "../servers.ts";

const payload = new Uint8Array(10);

describe.skipIf(serversMissing)("processes that consume the same stream", () => {
  let server: Server;
  let stack: AsyncDisposableStack;
  let gateway: Bus;
  let sent = 0;

  beforeAll(async () => void (server = await openNats()), 60_000);
  afterAll(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    gateway = openBus();
    await until(() => gateway.connected());
    gateway.partitions("settlements");
  });
  afterEach(async () => {
    await stack.disposeAsync();
    const { username, password, host } = new URL(server.url);
    const connection = await connect({ servers: host, user: username, pass: password });
    await (await jetstreamManager(connection)).streams.delete("settlements");
    await connection.close();
  });

  function openBus(): Bus {
    return stack.use(new DistributedBus({ url: new Secret(server.url), name: "test", clock: systemClock, log: silentLog }));
  }

  interface Consuming {
    seen: string[];
    stop(): Promise<void>;
  }

  /** @param handle throws where this process cannot handle events */
  async function consume(handle: (events: Delivered[]) => void = () => {}): Promise<Consuming> {
    const seen: string[] = [];
    const consumption = await openBus().consume("settlements", { messagesMax: 100 }, async (events) => {
      handle(events);
      seen.push(...events.map(({ id }) => id));
    });
    return { seen, stop: async () => await consumption[Symbol.asyncDispose]() };
  }

  /** One event to each of the first partitions, until every one was seen. @returns who saw it */
  async function spread(partitions: number, ...consumers: Consuming[]): Promise<number[]> {
    const ids = Array.from({ length: partitions }, () => `event-${sent++}`);
    await Promise.all(ids.map((id, partition) => gateway.publish("settlements", id, payload, partition)));
    await until(() => ids.every((id) => consumers.some(({ seen }) => seen.includes(id))));
    return ids.map((id) => consumers.findIndex(({ seen }) => seen.includes(id)));
  }

  test("have a partition each, and publishers know how many there are", async () => {
    const [one, other] = [await consume(), await consume()];
    await until(() => gateway.partitions("settlements") === 2);
    await until(async () => new Set(await spread(2, one, other)).size === 2);
    const before = await spread(2, one, other);
    expect(await spread(2, one, other)).toEqual(before);
    await until(async () => (await gateway.backlog("settlements")).messages === 0);
  });

  test("take over the partitions of one that leaves, of one that cannot handle events, and give them back", async () => {
    let isWell = true;
    const ill = await consume(() => {
      if (!isWell) throw new Error("the database is out of reach");
    });
    const well = await consume();
    await until(async () => new Set(await spread(2, ill, well)).size === 2);
    isWell = false;
    await until(async () => new Set(await spread(2, ill, well)).size === 1);
    isWell = true;
    await until(async () => new Set(await spread(2, ill, well)).size === 2, 10_000);
    await ill.stop();
    expect(await spread(2, ill, well)).toEqual([1, 1]);
    await until(() => gateway.partitions("settlements") === 1);
  }, 30_000);

  test("take over the partitions of one that is killed within two seconds", async () => {
    const killed = stack.use(
      new OurProcess({ arguments: ["test/support/processes/holding-process.ts", server.url], environment: {} }),
    );
    const survivor = await consume();
    await killed.says("consuming");
    await until(() => gateway.partitions("settlements") === 2);
    await killed.kill();
    const killedAt = performance.now();
    await spread(2, survivor);
    expect(performance.now() - killedAt).toBeLessThan(2_000);
  }, 30_000);
});

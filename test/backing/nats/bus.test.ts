import { afterAll, beforeAll, describe } from "bun:test";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "nats";
import type { Server } from "../../../scripts/services/server.ts";
import { DistributedBus } from "../../../src/backing/nats/bus.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { busContract } from "../../contracts/bus.ts";
import { serversMissing, openNats } from "../servers.ts";

describe.skipIf(serversMissing)("NATS", () => {
  let server: Server;
  beforeAll(async () => void (server = await openNats()), 60_000);
  afterAll(() => server[Symbol.asyncDispose]());

  busContract("the bus of a fleet", async () => {
    await forgetEvents(server);
    await using stack = new AsyncDisposableStack();
    const [bus, other] = ["one", "other"].map((name) =>
      stack.use(new DistributedBus({ url: new Secret(server.url), name, clock: systemClock, log: silentLog })),
    );
    const kept = stack.move();
    if (!bus || !other) throw new Error("Two buses were to be opened");
    return { bus, other, [Symbol.asyncDispose]: () => kept.disposeAsync() };
  });
});

async function forgetEvents(server: Server): Promise<void> {
  const { username, password, host } = new URL(server.url);
  const connection = await connect({ servers: host, user: username, pass: password });
  const manager = await jetstreamManager(connection);
  await manager.streams.delete("settlements").catch(() => {});
  await connection.close();
}

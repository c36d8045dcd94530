import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Server } from "../../../scripts/services/server.ts";
import { greetingOf, NatsLink } from "../../../src/backing/nats/link.ts";
import { busConnectMs } from "../../../src/backing/limits.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { ManualClock } from "../../support/clock.ts";
import { failureOf } from "../../support/failure-of.ts";
import { RawServer } from "../../support/servers/raw-server.ts";
import { until } from "../../support/until.ts";
import { openNats, serversMissing } from "../servers.ts";

const info = 'INFO {"server_id":"s","version":"2.9.10","proto":1,"max_payload":1048576}\r\n';

describe.skipIf(serversMissing)("a link to NATS", () => {
  let nats: Server;
  beforeAll(async () => void (nats = await openNats()), 60_000);
  afterAll(() => nats[Symbol.asyncDispose]());

  test("carries more at once than any socket takes, both ways, whole and in order", async () => {
    await using link = linkTo(nats.url);
    await until(() => link.up);
    const sent = Array.from({ length: 40 }, (_, number) => new Uint8Array(900 * 1_024 + number).fill(number));
    const received: Uint8Array[] = [];
    await using _listening = link.subscribe("large", (message) => void received.push(message.data));
    for (const payload of sent) link.publish("large", payload);
    await until(() => received.length === sent.length);
    expect(received.every((payload, number) => Buffer.compare(payload, sent[number] ?? new Uint8Array(0)) === 0)).toBe(true);
  });
});

describe("a link to a server of bytes", () => {
  /** The connection of this number, greeted. */
  async function greeted(server: RawServer, number: number, greeting = info): Promise<Socket> {
    await until(() => server.connections.length > number);
    const socket = server.connections[number];
    if (socket === undefined) throw new Error("Nobody has connected");
    socket.write(greeting);
    return socket;
  }

  test("goes down with a connection that ends in the middle of a message, and comes up with the next", async () => {
    await using server = await new RawServer(answerPings).listen();
    await using link = linkTo(`nats://127.0.0.1:${server.port}`);
    const heard: string[] = [];
    await using _listening = link.subscribe("news", (message) => void heard.push(message.string()));
    const first = await greeted(server, 0);
    await until(() => link.up && (server.received[0] ?? "").includes("SUB news 1\r\n"));
    first.end("MSG news 1 5\r\nwhole\r\nMSG news 1 100\r\ncut");
    await until(() => !link.up);
    const second = await greeted(server, 1);
    await until(() => link.up && (server.received[1] ?? "").includes("SUB news 1\r\n"));
    second.write("MSG news 1 5\r\nagain\r\n");
    await until(() => heard.length === 2);
    expect(heard).toEqual(["whole", "again"]);
  });

  test("goes down with a connection that is reset, and comes up with the next", async () => {
    await using server = await new RawServer(answerPings).listen();
    await using link = linkTo(`nats://127.0.0.1:${server.port}`);
    const first = await greeted(server, 0);
    await until(() => link.up);
    first.resetAndDestroy();
    await until(() => !link.up);
    await greeted(server, 1);
    await until(() => link.up);
  });

  test.each(["tls_required", "tls_available"])(
    "where a server says %s, nothing goes to it in the clear, at any attempt",
    async (offer) => {
      const offering = info.replace("{", `{"${offer}":true,`);
      await using server = await new RawServer(() => {}).listen();
      await using _link = linkTo(`nats://weir:password@127.0.0.1:${server.port}`);
      const first = await greeted(server, 0, offering);
      await until(() => saysHello(server.received[0]));
      first.destroy();
      const look = await greeted(server, 1, offering);
      await until(() => look.destroyed);
      expect(server.received[1]).toBe("");
      await greeted(server, 2, offering);
      await until(() => saysHello(server.received[2]));
    },
  );

  test("a server without TLS is sent nothing where TLS is asked for", async () => {
    await using server = await new RawServer(() => {}).listen();
    await using _link = linkTo(`tls://weir:password@127.0.0.1:${server.port}`);
    const socket = await greeted(server, 0);
    await until(() => socket.destroyed);
    expect(server.received).toEqual([""]);
  });

  test("an address of tls:// is encrypted at once", async () => {
    await using server = await new RawServer(() => {}).listen();
    await using _link = linkTo(`tls://weir:password@127.0.0.1:${server.port}`);
    const socket = await greeted(server, 0, info.replace("{", '{"tls_required":true,'));
    await until(() => saysHello(server.received[0]));
    socket.destroy();
  });
});

describe("the greeting of a server", () => {
  test("is read to the end of its line, and its connection closed", async () => {
    await using server = await new RawServer(() => {}).listen();
    const greeting = greetingOf(`127.0.0.1:${server.port}`, systemClock);
    await until(() => server.connections.length > 0);
    for (const piece of [info.slice(0, 20), info.slice(20), "PING\r\n"]) server.connections[0]?.write(piece);
    expect(JSON.parse(await greeting)).toMatchObject({ server_id: "s" });
    await until(() => server.connections[0]?.destroyed === true);
    expect(server.received).toEqual([""]);
  });

  test.each([
    ["another server", "HTTP/1.1 400 Bad Request\r\n", /Another server/],
    ["one that hangs up", null, /hung up/],
    ["one whose line has no end", `INFO ${" ".repeat(70_000)}`, /no end/],
  ])("of %s is an error, and its connection is closed", async (_what, said, reason) => {
    await using server = await new RawServer(() => {}).listen();
    const failure = failureOf(greetingOf(`127.0.0.1:${server.port}`, systemClock));
    await until(() => server.connections.length > 0);
    if (said === null) server.connections[0]?.end();
    else server.connections[0]?.write(said);
    expect(String(await failure)).toMatch(reason);
    await until(() => server.connections[0]?.destroyed === true);
  });

  test("is not waited for longer than for a connection, and no socket stays", async () => {
    const clock = new ManualClock();
    await using server = await new RawServer(() => {}).listen();
    const failure = failureOf(greetingOf(`127.0.0.1:${server.port}`, clock));
    await until(() => server.connections.length > 0);
    clock.advance(busConnectMs);
    expect(await failure).toMatchObject({ name: "DeadlineError" });
    await until(() => server.connections[0]?.destroyed === true);
  });
});

function linkTo(url: string): NatsLink {
  return new NatsLink({ url: new Secret(url), name: "test", clock: systemClock, log: silentLog });
}

/** As much of NATS as a client waits for. */
function answerPings(socket: Socket, text: string): void {
  if (text.includes("PING\r\n")) socket.write("PONG\r\n");
}

/** The first record of TLS is a handshake. */
function saysHello(received = ""): boolean {
  return received.startsWith("\x16\x03");
}

import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Server } from "../../../scripts/services/server.ts";
import { connectNats, NatsLink } from "../../../src/backing/nats/link.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
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

  test("a server that accepts and says nothing is given up after the time for connecting, and no socket stays", async () => {
    await using server = await new RawServer(() => {}).listen();
    const failure = await failureOf(connectNats({ servers: `127.0.0.1:${server.port}`, timeout: 50 }));
    expect(failure).toMatchObject({ name: "TimeoutError" });
    await until(() => server.connections.every((socket) => socket.destroyed));
    expect(server.received).toEqual([""]);
  });

  test.each(["tls_required", "tls_available"])(
    "where a server says %s, nothing goes to it in the clear, at any attempt",
    async (offer) => {
      await using server = await new RawServer(() => {}).listen();
      await using _link = linkTo(`nats://weir:password@127.0.0.1:${server.port}`);
      for (const number of [0, 2]) {
        const plain = await greeted(server, number, info.replace("{", `{"${offer}":true,`));
        const encrypted = await greeted(server, number + 1, info.replace("{", `{"${offer}":true,`));
        await until(() => saysHello(server.received[number + 1]) && plain.destroyed);
        expect(server.received[number]).toBe("");
        encrypted.destroy();
      }
    },
  );

  test("an address of tls:// is encrypted at once", async () => {
    await using server = await new RawServer(() => {}).listen();
    await using _link = linkTo(`tls://weir:password@127.0.0.1:${server.port}`);
    const socket = await greeted(server, 0, info.replace("{", '{"tls_required":true,'));
    await until(() => saysHello(server.received[0]));
    socket.destroy();
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

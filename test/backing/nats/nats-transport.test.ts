import type { Socket } from "node:net";
import type { ConnectionOptions, Server } from "@nats-io/nats-core/internal";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { BunTransport, TlsOfferedError, ChunkReader } from "../../../src/backing/nats/nats-transport.ts";
import { failureOf } from "../../support/failure-of.ts";
import { RawServer } from "../../support/servers/raw-server.ts";
import { until } from "../../support/until.ts";

const info = 'INFO {"server_id":"s","version":"2.9.10","proto":1,"max_payload":1048576}\r\n';

describe("the bytes of a connection to NATS", () => {
  let server: RawServer;
  let transport: BunTransport;
  beforeEach(async () => {
    server = await new RawServer(() => {}).listen();
    transport = new BunTransport();
  });
  afterEach(async () => {
    transport.discard();
    await server[Symbol.asyncDispose]();
  });

  /** The server's end, before it has said anything. */
  async function accepted(): Promise<Socket> {
    await until(() => server.connections.length > 0);
    const [socket] = server.connections;
    if (socket === undefined) throw new Error("Nobody has connected");
    return socket;
  }

  /** Connects, and reads the first line, which is handed on as well. */
  async function connected(): Promise<{ socket: Socket; read(): Promise<string | null> }> {
    const connecting = transport.connect(at(server.port), {});
    const socket = await accepted();
    socket.write(info);
    await connecting;
    const chunks = transport[Symbol.asyncIterator]();
    const read = async (): Promise<string | null> => {
      const { done, value } = await chunks.next();
      return done ? null : new TextDecoder().decode(value);
    };
    expect(await read()).toBe(info);
    return { socket, read };
  }

  test("frames that the socket does not take at once follow whole and in order", async () => {
    const { socket } = await connected();
    socket.pause();
    const frames = Array.from({ length: 24 }, (_, number) => new Uint8Array(900 * 1_024 + number).fill(65 + number));
    for (const frame of frames) transport.send(frame);
    expect(server.received[0]).toBe("");
    socket.resume();
    const whole = frames.map((frame) => Buffer.from(frame).toString("latin1")).join("");
    await until(() => (server.received[0]?.length ?? 0) >= whole.length);
    expect(server.received[0] === whole).toBe(true);
  });

  test("chunks come in order, and keep what they held, whether the reader waits or not", async () => {
    const { socket, read } = await connected();
    const chunks = transport[Symbol.asyncIterator]();
    const early = chunks.next();
    socket.write("first");
    const first = await early;
    socket.write("second");
    expect(await read()).toBe("second");
    expect(new TextDecoder().decode(first.value)).toBe("first");
    let got = "";
    socket.write("x".repeat(4_000_000));
    await until(() => socket.bytesWritten > 4_000_000 && socket.writableLength === 0);
    socket.end("last");
    for (let chunk = await read(); chunk !== null; chunk = await read()) got += chunk;
    expect(got === `${"x".repeat(4_000_000)}last`).toBe(true);
  });

  test("the server's first line may come in pieces, and is handed on with what follows it", async () => {
    const connecting = transport.connect(at(server.port), {});
    const socket = await accepted();
    socket.setNoDelay(true);
    for (const piece of [info.slice(0, 20), info.slice(20, -1)]) {
      socket.write(piece);
      await turnOfTheLoop();
    }
    socket.write("\nPING\r\n+O");
    await connecting;
    const chunks = transport[Symbol.asyncIterator]();
    const { value } = await chunks.next();
    expect(new TextDecoder().decode(value)).toBe(`${info}PING\r\n+O`);
    socket.write("K\r\n");
    expect(new TextDecoder().decode((await chunks.next()).value)).toBe("K\r\n");
  });

  test("a refused connection is told as the library's own transport tells it", async () => {
    const { port } = server;
    await server[Symbol.asyncDispose]();
    const failure = await failureOf(transport.connect(at(port), {}));
    expect(failure).toMatchObject({ name: "ConnectionError", message: "connection refused", cause: { code: "ECONNREFUSED" } });
    expect(transport.isClosed).toBe(true);
  });

  test.each([
    ["is not NATS", "HTTP/1.1 400 Bad Request\r\n", /unexpected response/],
    ["says nothing that can be read", "INFO {\r\n", /JSON/],
    ["hangs up", null, /before the server's first line/],
  ])("a server that %s is left, and connecting fails at once", async (_what, said, reason) => {
    const failure = failureOf(transport.connect(at(server.port), {}));
    const socket = await accepted();
    if (said === null) socket.end();
    else socket.write(said);
    expect(String(await failure)).toMatch(reason);
    await until(() => socket.destroyed);
  });

  test.each(["tls_required", "tls_available"])("a server with %s is sent nothing and left", async (offer) => {
    const failure = failureOf(transport.connect(at(server.port), {}));
    const socket = await accepted();
    socket.write(info.replace("{", `{"${offer}":true,`));
    expect(await failure).toBeInstanceOf(TlsOfferedError);
    await until(() => socket.destroyed);
    expect(server.received).toEqual([""]);
  });

  test("a server without TLS is left where TLS is asked for", async () => {
    const failure = failureOf(transport.connect(at(server.port), { tls: {} }));
    const socket = await accepted();
    socket.write(info);
    expect(String(await failure)).toContain("does not support 'tls'");
    await until(() => socket.destroyed);
    expect(server.received).toEqual([""]);
  });

  test("an attempt that was given up leaves no socket behind, and tells nobody of its end", async () => {
    let told = false;
    void transport.closed().then(() => (told = true));
    const failure = failureOf(transport.connect(at(server.port), {}));
    await transport.close(new Error("too late"));
    expect(await failure).toBeInstanceOf(Error);
    await until(async () => (await accepted()).destroyed);
    expect(told).toBe(false);
  });

  test("a transport that was never used can be discarded", async () => {
    const rejected: unknown[] = [];
    const note = (reason: unknown): void => void rejected.push(reason);
    process.on("unhandledRejection", note);
    transport.discard();
    await turnOfTheLoop();
    process.off("unhandledRejection", note);
    expect(rejected).toEqual([]);
  });

  test("an attempt that ends while the server's first line is looked at has failed", async () => {
    const looked: ConnectionOptions = {
      get tls() {
        transport.discard();
        return null;
      },
    };
    const failure = failureOf(transport.connect(at(server.port), looked));
    (await accepted()).write(info);
    expect(await failure).toMatchObject({ name: "ConnectionError" });
  });

  test("what was sent before closing arrives, and after it nothing is sent and nothing throws", async () => {
    const { socket, read } = await connected();
    const why = new Error("done");
    transport.send(new TextEncoder().encode("PUB a 0\r\n\r\n"));
    await transport.close(why);
    transport.send(new TextEncoder().encode("PUB b 0\r\n\r\n"));
    await transport.close();
    transport.disconnect();
    expect(await transport.closed()).toBe(why);
    expect([transport.closeError, transport.isClosed]).toEqual([why, true]);
    expect(await read()).toBeNull();
    await until(() => socket.destroyed);
    expect(server.received).toEqual(["PUB a 0\r\n\r\n"]);
  });

  test("a server that goes is noticed, by its reason where it gave one, and what it said before is still read", async () => {
    const { socket, read } = await connected();
    socket.end("-ERR 'Authorization Violation'\r\n");
    expect(await transport.closed()).toBeUndefined();
    expect(await read()).toBe("-ERR 'Authorization Violation'\r\n");
    expect(await read()).toBeNull();
  });

  test("a connection that is reset ends with its error", async () => {
    const { socket } = await connected();
    socket.resetAndDestroy();
    expect(await transport.closed()).toMatchObject({ code: "ECONNRESET" });
    expect(transport.closeError).toMatchObject({ code: "ECONNRESET" });
  });

  test("disconnecting does not wait for a server that takes nothing", async () => {
    const { socket } = await connected();
    socket.pause();
    for (let sent = 0; sent < 24; sent++) transport.send(new Uint8Array(1_000_000));
    transport.disconnect();
    expect(await transport.closed()).toBeUndefined();
    expect(transport.closeError).toBeUndefined();
  });

  test("what a discarded connection received is not read any more, and nobody is told", async () => {
    const { socket, read } = await connected();
    let told = false;
    void transport.closed().then(() => (told = true));
    const reading = read();
    transport.discard();
    expect(await reading).toBeNull();
    await until(() => socket.destroyed);
    expect(told).toBe(false);
  });

  test("a reader who leaves, as the parser does at what it cannot read, ends the connection", async () => {
    await connected();
    await transport[Symbol.asyncIterator]().return?.();
    expect(await transport.closed()).toBeUndefined();
  });
});

/** Within it, what one end wrote reaches the other. */
function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

function at(port: number): Server {
  const host = { hostname: "127.0.0.1", listen: `127.0.0.1:${port}`, src: "", tlsName: "" };
  return { ...host, port, reconnects: 0, lastConnect: 0, gossiped: false, didConnect: false };
}

const one = Uint8Array.of(1);
const two = Uint8Array.of(2);
const three = Uint8Array.of(3);

test("chunks that came while the reader was busy are read in order, before those that it waits for, and then the end", async () => {
  const reader = new ChunkReader(() => {});
  for (const chunk of [one, two]) reader.push(chunk);
  const read: unknown[] = [];
  const reading = (async () => {
    for await (const chunk of reader) read.push(chunk);
  })();
  setTimeout(() => {
    reader.push(three);
    reader.end();
  }, 1);
  await reading;
  expect(read).toEqual([one, two, three]);
});

test("what is forgotten is not read", async () => {
  const reader = new ChunkReader(() => {});
  reader.push(one);
  reader.forget();
  reader.end();
  expect(await reader.next()).toEqual({ done: true, value: undefined });
});

test("where the reader fails, whoever feeds it is told, and nothing is kept any more", async () => {
  let left = 0;
  const reader = new ChunkReader(() => left++);
  reader.push(one);
  const failing = (async () => {
    for await (const _chunk of reader) throw new Error("unreadable");
  })();
  expect(await failing.catch(String)).toBe("Error: unreadable");
  reader.push(two);
  expect(left).toBe(1);
  expect(await reader.next()).toEqual({ done: true, value: undefined });
});

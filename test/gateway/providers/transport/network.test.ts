/** Connections to providers: kept, closed, and never used for a second send of a request that may have been answered. */
import { describe, expect, spyOn, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, Socket } from "node:net";
import {
  idleConnectionMsMax,
  idleConnectionsPerOrigin,
  staleConnectionMsMax,
  upstreamReadAheadBytesMax,
} from "../../../../src/gateway/limits.ts";
import { UpstreamCall, nextBytes } from "../../../../src/gateway/providers/transport/upstream-call.ts";
import { Network } from "../../../../src/gateway/providers/transport/network.ts";
import type { Post } from "../../../../src/gateway/providers/transport/transport.ts";
import { callWhole, failureOf } from "../../../support/providers/call.ts";
import { ManualClock } from "../../../support/clock.ts";
import { aRoute } from "../../../support/providers/models.ts";
import { RawServer } from "../../../support/servers/raw-server.ts";
import { until } from "../../../support/until.ts";

const clocks = { connectMs: 5_000, firstByteMs: 60_000, idleMs: 60_000, streamMs: 900_000 };
const post: Post = { headers: { authorization: "Bearer a" }, body: '{"text":"é"}' };
const answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

function urlOf({ port }: { port: number }, scheme = "http"): URL {
  return new URL(`${scheme}://127.0.0.1:${port}/v1/chat?x=1`);
}

/** Calls a server over one network with a clock that the test moves. */
function caller(server: { port: number }, scheme = "http") {
  const clock = new ManualClock();
  const network = new Network(clock);
  return {
    clock,
    network,
    async call(): Promise<string> {
      const exchange = new UpstreamCall({ clock, clocks, startedAt: clock.monotonic() });
      try {
        await exchange.post(network, urlOf(server, scheme), post);
        let text = "";
        for (let bytes = await nextBytes(exchange); bytes !== null; bytes = await nextBytes(exchange)) {
          text += Buffer.from(bytes).toString();
        }
        return text;
      } finally {
        exchange.close();
      }
    },
  };
}

function serving(onData: (socket: Socket, text: string) => void): Promise<RawServer> {
  return new RawServer(onData).listen();
}

const answering = (): Promise<RawServer> => serving((socket) => socket.write(answer));

describe("a request", () => {
  test("is written to the wire with its length in bytes", async () => {
    await using server = await answering();
    await caller(server).call();
    expect(server.received[0]).toBe(
      `POST /v1/chat?x=1 HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\n` +
        "content-type: application/json\r\naccept: application/json\r\naccept-encoding: identity\r\nuser-agent: weir\r\n" +
        `authorization: Bearer a\r\ncontent-length: 13\r\n\r\n${Buffer.from(post.body).toString("latin1")}`,
    );
  });

  test("on a new connection leaves only after its caller heard that it goes out, and can note that it is owed", async () => {
    await using server = await answering();
    const clock = new ManualClock();
    const order: string[] = [];
    const writing = spyOn(Socket.prototype, "write");
    try {
      const exchange = new UpstreamCall({ clock, clocks, startedAt: clock.monotonic() });
      const isWritten = (): boolean => writing.mock.calls.some(([text]) => String(text).startsWith("POST"));
      const onSent = (): void => void order.push(isWritten() ? "written" : "not written");
      await exchange.post(new Network(clock), urlOf(server), post, { onSent });
      expect(order).toEqual(["not written"]);
      expect(isWritten()).toBe(true);
      exchange.close();
    } finally {
      writing.mockRestore();
    }
  });

  test("on a new connection does not leave if its caller cannot note that it is owed", async () => {
    await using server = await answering();
    const clock = new ManualClock();
    const exchange = new UpstreamCall({ clock, clocks, startedAt: clock.monotonic() });
    const full = new Error("the disk is full");
    const onSent = (): void => {
      throw full;
    };
    await expect(exchange.post(new Network(clock), urlOf(server), post, { onSent })).rejects.toBe(full);
    await until(() => server.connections.every(({ destroyed }) => destroyed));
    expect(server.received.join("")).toBe("");
  });

  test("does not leave once the time of its generation is over, as at a second try after the process stood still", async () => {
    await using server = await answering();
    const clock = new ManualClock();
    const exchange = new UpstreamCall({ clock, clocks, startedAt: clock.monotonic() - clocks.streamMs });
    await expect(exchange.post(new Network(clock), urlOf(server), post)).rejects.toMatchObject({ code: "upstream_timeout" });
    expect(server.connections).toHaveLength(0);
  });

  test("does not leave on a connection that opened after its time, as for a process that stood still", async () => {
    await using server = await answering();
    const clock = new ManualClock();
    // Its timers come late.
    clock.after = () => () => {};
    const exchange = new UpstreamCall({ clock, clocks, startedAt: clock.monotonic() });
    const sent: string[] = [];
    const network = new Network(clock);
    const posted = exchange.post(network, urlOf(server), post, { onSent: () => void sent.push("sent") });
    clock.advance(clocks.connectMs);
    await expect(posted).rejects.toMatchObject({ code: "upstream_timeout" });
    await until(() => server.connections.every(({ destroyed }) => destroyed));
    expect([sent, server.received.join("")]).toEqual([[], ""]);
  });

  test("with a line break in a header is not sent", async () => {
    await using server = await answering();
    const network = new Network(new ManualClock());
    const headers = { authorization: "Bearer a\r\nx: y" };
    expect(() => network.post(urlOf(server), { headers, body: "" })).toThrow('the header "authorization"');
    expect(server.connections).toHaveLength(0);
  });
});

describe("a connection is kept after an answer", () => {
  test("and carries the next call", async () => {
    await using server = await answering();
    const { call } = caller(server);
    for (let n = 0; n < 3; n++) expect(await call()).toBe("ok");
    expect(server.connections).toHaveLength(1);
  });

  test("unless it has been idle for too long", async () => {
    await using server = await answering();
    const { call, clock } = caller(server);
    await call();
    clock.advance(idleConnectionMsMax);
    await call();
    expect(server.connections).toHaveLength(1);
    clock.advance(idleConnectionMsMax + 1);
    await call();
    expect(server.connections).toHaveLength(2);
  });

  test("unless its provider closes it", async () => {
    await using server = await answering();
    const { call } = caller(server);
    await call();
    const [first] = server.connections;
    first?.end();
    await until(() => first?.closed === true);
    expect(await call()).toBe("ok");
    expect(server.connections).toHaveLength(2);
  });

  test("unless unrequested bytes arrived", async () => {
    await using server = await answering();
    const { call } = caller(server);
    await call();
    server.connections[0]?.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil");
    await until(() => server.connections[0]?.closed === true);
    expect(await call()).toBe("ok");
  });

  test("unless the limit of idle connections is reached", async () => {
    const waiting: Socket[] = [];
    await using server = await serving((socket) => void waiting.push(socket));
    const { call } = caller(server);
    const calls = Array.from({ length: idleConnectionsPerOrigin + 10 }, call);
    await until(() => waiting.length === calls.length);
    for (const socket of waiting) socket.write(answer);
    await Promise.all(calls);
    await until(() => waiting.filter((socket) => socket.closed).length === 10);
  });

  test("but not after an aborted call", async () => {
    await using server = await serving((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nha"));
    const network = new Network(new ManualClock());
    const call = network.post(urlOf(server), post);
    await call.head();
    call.end(new Error("enough"));
    await until(() => server.connections[0]?.closed === true);
  });
});

describe("a kept connection that turns out to be closed", () => {
  test("is replaced, and the request is sent again", async () => {
    await using server = await serving((socket, text) => {
      if (server.connections.length === 1 && server.received[0] !== text) socket.destroy();
      else socket.write(answer);
    });
    const { call } = caller(server);
    expect(await call()).toBe("ok");
    expect(await call()).toBe("ok");
    expect(server.connections).toHaveLength(2);
  });

  test("leads to no second send if the provider had time to work on the request", async () => {
    await using server = await serving((socket, text) => {
      if (server.received[0] === text) socket.write(answer);
    });
    const { call, clock } = caller(server);
    await call();
    const called = failureOf(call());
    await until(() => (server.received[0] ?? "").split("POST ").length === 3);
    clock.advance(staleConnectionMsMax + 1);
    server.connections[0]?.destroy();
    expect(await called).toMatchObject({ code: "upstream_error" });
    expect(server.connections).toHaveLength(1);
  });

  test("leads to no second send if an answer has begun to arrive", async () => {
    await using server = await serving((socket, text) => {
      if (server.received[0] === text) socket.write(answer);
      else socket.end("HTTP/1.1 200");
    });
    const { call } = caller(server);
    await call();
    expect(await failureOf(call())).toMatchObject({ code: "upstream_error" });
    expect(server.connections).toHaveLength(1);
  });

  test("leads to no second send if the connection was new", async () => {
    await using server = await serving((socket) => socket.destroy());
    expect((await failureOf(caller(server).call())).code).toBe("upstream_error");
    expect(server.connections).toHaveLength(1);
  });
});

test("an unread body stops the reading from the network, and a read resumes it", async () => {
  const block = "x".repeat(65_536);
  let written = 0;
  await using server = await serving((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    const more = (): void => {
      written += block.length;
      if (socket.write(block)) setImmediate(more);
      else socket.once("drain", more);
    };
    more();
  });
  const network = new Network(new ManualClock());
  const call = network.post(urlOf(server), post);
  await call.head();
  let before = -1;
  const standsStill = async (): Promise<boolean> => {
    const same = written === before;
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return same;
  };
  await until(standsStill);
  expect(written).toBeLessThan(16 * 1024 * 1024);
  expect((await nextBytes(call))?.length).toBeLessThan(upstreamReadAheadBytesMax * 4);
  for (const goal = written * 2; written < goal;) await nextBytes(call);
  call.end(new Error("enough"));
  await until(() => server.connections[0]?.closed === true);
});

describe("a connection fails", () => {
  test("with the system's error name", async () => {
    const server = await answering();
    const { port } = server;
    await server[Symbol.asyncDispose]();
    const failure = await failureOf(caller({ port }).call());
    expect(failure).toMatchObject({ code: "upstream_error", message: "no connection: ECONNREFUSED" });
  });

  test("if the server does not speak TLS for https", async () => {
    await using server = await serving((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    expect((await failureOf(caller(server, "https").call())).code).toBe("upstream_error");
  });

  test("if the TLS handshake never completes: upstream_timeout", async () => {
    await using server = await serving(() => {});
    const { call, clock } = caller(server, "https");
    const called = failureOf(call());
    await until(() => server.received[0] !== undefined && server.received[0] !== "");
    clock.advance(clocks.connectMs);
    expect(await called).toMatchObject({ code: "upstream_timeout", message: "no connection within 5000 ms" });
    expect(clock.pending).toBe(0);
  });

  test("if the network drops all packets, and nothing is sent: upstream_timeout", async () => {
    await using hole = await blackHole();
    const started = performance.now();
    const failure = await failureOf(
      callWhole({
        route: aRoute({ base_url: `http://127.0.0.1:${hole.port}/v1` }),
        context: { clocks: { ...clocks, connectMs: 300 } },
      }),
    );
    expect(failure).toMatchObject({ code: "upstream_timeout", message: "no connection within 300 ms" });
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

/** A listener with a stopped process and a full connection queue: the kernel drops further packets. Bun offers no short queue. */
async function blackHole(): Promise<AsyncDisposable & { port: number }> {
  const script = `require("node:net").createServer().listen({port:0,host:"127.0.0.1",backlog:1},function(){console.log(this.address().port)})`;
  const child = spawn("node", ["-e", script], { stdio: ["ignore", "pipe", "ignore"] });
  const [line] = await once(child.stdout, "data");
  const port = Number(String(line));
  child.kill("SIGSTOP");
  const fillers = Array.from({ length: 8 }, () => connect({ port, host: "127.0.0.1" }).on("error", () => {}));
  await Promise.all(fillers.slice(0, 2).map((socket) => once(socket, "connect")));
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of fillers) socket.destroy();
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

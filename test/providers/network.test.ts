import { describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { systemClock } from "../../src/kernel/clock.ts";
import { originTrustMs } from "../../src/limits/constants.ts";
import { dial } from "../../src/providers/dial.ts";
import { Network } from "../../src/providers/network.ts";
import { UpstreamFailure } from "../../src/providers/provider.ts";
import { callWhole, failureOf } from "../support/call.ts";
import { ManualClock } from "../support/clock.ts";
import { aRoute } from "../support/models.ts";
import { startProviderStub } from "../support/provider-stub.ts";

const origin = new URL("http://provider.example/v1");

/** Counts dials, each of which ends as the test says. */
function counting(outcome: UpstreamFailure | null = null) {
  const clock = new ManualClock();
  const dialled: string[] = [];
  const network = new Network(clock, async ({ url }) => {
    dialled.push(url.origin);
    return outcome;
  });
  return { clock, dialled, network };
}

describe("an origin that has not answered of late is dialled before it is called", () => {
  test("once for as long as it is trusted", async () => {
    const { clock, dialled, network } = counting();
    expect(await network.reach(origin, 5_000)).toBeNull();
    clock.advance(originTrustMs - 1);
    await network.reach(origin, 5_000);
    expect(dialled).toHaveLength(1);
    clock.advance(1);
    await network.reach(origin, 5_000);
    expect(dialled).toHaveLength(2);
  });

  test("once for all calls that wait for it", async () => {
    const { dialled, network } = counting();
    await Promise.all(Array.from({ length: 50 }, () => network.reach(origin, 5_000)));
    expect(dialled).toHaveLength(1);
  });

  test("each origin for itself", async () => {
    const { dialled, network } = counting();
    await network.reach(origin, 5_000);
    await network.reach(new URL("https://provider.example/v1"), 5_000);
    expect(dialled).toEqual(["http://provider.example", "https://provider.example"]);
  });

  test("again after it could not be reached", async () => {
    const failure = new UpstreamFailure("upstream_error", "no connection");
    const { dialled, network } = counting(failure);
    expect(await network.reach(origin, 5_000)).toBe(failure);
    await network.reach(origin, 5_000);
    expect(dialled).toHaveLength(2);
  });

  test("not when it has just answered, and again when a call of it failed", async () => {
    const clock = new ManualClock();
    let dials = 0;
    const network = new Network(clock, async () => {
      dials++;
      return null;
    });
    const stub = await startProviderStub();
    const url = new URL(`${stub.url}/chat/completions`);
    const init = { headers: {}, body: "{}", signal: new AbortController().signal };
    await (await network.post(url, init)).text();
    await network.reach(url, 5_000);
    expect(dials).toBe(0);
    await stub[Symbol.asyncDispose]();
    await expect(network.post(url, init)).rejects.toThrow();
    await network.reach(url, 5_000);
    expect(dials).toBe(1);
  });
});

describe("dialling", () => {
  test("says nothing against a host that takes connections, and leaves it none", async () => {
    const server = await listening();
    const taken = once(server, "connection");
    expect(await dial({ url: urlOf(server), connectMs: 5_000, clock: systemClock })).toBeNull();
    const [socket] = await taken;
    socket.resume();
    if (!socket.closed) await once(socket, "close");
    server.close();
  });

  test("calls a refused connection upstream_error, and names it as the system does", async () => {
    const server = await listening();
    const url = urlOf(server);
    server.close();
    await once(server, "close");
    const failure = await dial({ url, connectMs: 5_000, clock: systemClock });
    expect(failure).toMatchObject({ code: "upstream_error", message: "no connection: ECONNREFUSED" });
  });

  test("calls a host that does not speak TLS where https is asked for upstream_error", async () => {
    const server = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const failure = await dial({ url: urlOf(server, "https"), connectMs: 5_000, clock: systemClock });
    expect(failure?.code).toBe("upstream_error");
    server.close();
  });

  test("calls a host that takes the connection and never shakes hands upstream_timeout", async () => {
    const server = createServer((socket) => socket.resume());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const clock = new ManualClock();
    const taken = once(server, "connection");
    const dialling = dial({ url: urlOf(server, "https"), connectMs: 5_000, clock });
    await taken;
    clock.advance(5_000);
    expect((await dialling)?.code).toBe("upstream_timeout");
    server.close();
  });
});

test("a host that swallows packets is upstream_timeout after the connect clock, and is sent nothing", async () => {
  await using hole = await blackHole();
  const clocks = { connectMs: 300, firstByteMs: 60_000, idleMs: 60_000, streamMs: 60_000 };
  const started = performance.now();
  const failure = await failureOf(
    callWhole({ route: aRoute({ base_url: `http://127.0.0.1:${hole.port}/v1` }), context: { clocks } }),
  );
  expect(failure).toMatchObject({ code: "upstream_timeout", message: "no connection within 300 ms" });
  expect(performance.now() - started).toBeLessThan(5_000);
});

function listening(): Promise<Server> {
  const server = createServer();
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

function urlOf(server: Server, scheme = "http"): URL {
  return new URL(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
}

/** A listener whose process is stopped and whose queue of connections is full: the kernel drops what comes then. Bun keeps no short queue. */
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

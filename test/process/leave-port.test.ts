/** docs/explanation/how-it-runs.md promises that a gateway which leaves a shared port loses no connection. */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { dlopen, ptr } from "bun:ffi";
import { expect, test } from "bun:test";
import { freePort } from "../../scripts/services/ports.ts";
import { pendingHandshakes } from "../../src/process/leave-port.ts";
import { ShortConnections } from "../chaos/harness/load/short-connections.ts";
import { OurProcess } from "../support/processes/process.ts";
import { until } from "../support/until.ts";

const startServer = async (port: number): Promise<OurProcess> => {
  const server = new OurProcess({ arguments: ["test/support/processes/leaving-server.ts", String(port)], environment: {} });
  await server.says("listening");
  return server;
};

test.skipIf(process.platform !== "linux")(
  "a busy server that leaves a shared port loses none of the connections that arrive meanwhile",
  async () => {
    const port = await freePort();
    await using leaving = await startServer(port);
    await using staying = await startServer(port);
    const load = new ShortConnections({ port, keys: ["none"], lanes: 32 });
    await until(() => load.answered > 500);
    leaving.signal("SIGTERM");
    expect(await leaving.exited).toBe(0);
    const { answered } = load;
    await until(() => load.answered > answered + 500);
    await load.stop();
    expect(load.lost).toEqual([]);
    expect(staying.running).toBe(true);
  },
  30_000,
);

/** A process that leaves a port waits for the handshakes in progress, which the kernel lists. */

const [afInet, nonblockingStream, solSocket, soAttachFilter] = [2, 0x801, 1, 26];

/** A client that never gets an answer, since all packets to it are dropped. @returns its port, and a function that ends it */
function deafClient(port: number): { port: number; close(): void } {
  const { symbols: libc } = dlopen("libc.so.6", {
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" },
    connect: { args: ["i32", "ptr", "u32"], returns: "i32" },
    getsockname: { args: ["i32", "ptr", "ptr"], returns: "i32" },
    close: { args: ["i32"], returns: "i32" },
  });
  const keepNothing = new Uint8Array([0x06, 0, 0, 0, 0, 0, 0, 0]);
  const filter = new DataView(new ArrayBuffer(16));
  filter.setUint16(0, 1, true);
  filter.setBigUint64(8, BigInt(ptr(keepNothing)), true);
  const address = new DataView(new ArrayBuffer(16));
  address.setUint16(0, afInet, true);
  address.setUint16(2, port);
  address.setUint32(4, 0x7f00_0001);
  const client = libc.socket(afInet, nonblockingStream, 0);
  libc.setsockopt(client, solSocket, soAttachFilter, ptr(filter), 16);
  libc.connect(client, ptr(address), 16);
  const own = new DataView(new ArrayBuffer(16));
  libc.getsockname(client, ptr(own), ptr(new Uint32Array([16])));
  return { port: own.getUint16(2), close: () => void libc.close(client) };
}

test.skipIf(process.platform !== "linux")(
  "the list has a handshake in progress with its remote address, and no other connection",
  async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await until(() => server.listening);
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const settled = connect(port, "127.0.0.1");
    await once(settled, "connect");
    expect(await pendingHandshakes(port)).toEqual([]);
    const client = deafClient(port);
    const other = `0100007F:${client.port.toString(16).toUpperCase().padStart(4, "0")}`;
    await until(async () => (await pendingHandshakes(port))?.length === 1);
    expect(await pendingHandshakes(port)).toEqual([other]);
    client.close();
    server.close();
  },
);

/**
 * Stops listening on a port that other processes share, without losing a connection.
 *
 * The kernel gives each new connection to one of the listeners. When a listener closes, the kernel resets the connections in its queue
 * and those whose handshake is pending. So a filter in the kernel first drops the packet that opens a connection (SYN); its sender
 * repeats it after a second and then reaches another listener. Pending handshakes end, the server accepts their connections, and the
 * listener closes with an empty queue.
 *
 * Works on Linux if the C library can be called; elsewhere it does nothing, and the port closes at once. Socket filters:
 * https://www.kernel.org/doc/Documentation/networking/filter.rst.
 */
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { ptr } from "bun:ffi";
import { sleep, type Clock } from "../kernel/clock.ts";
import { openLibrary } from "./c-library.ts";
import { acceptQueueMsMax, handshakeMsMax } from "./limits.ts";

const pollMs = 10;

/**
 * Resolves when this process's listeners of the port are closed; accepted connections continue. The server later closes its descriptor, by
 * then an unused socket. Never rejects.
 * @returns true if all listeners of this process were closed; false if some remain or there was none
 */
export async function leavePort(port: number, clock: Clock): Promise<boolean> {
  const calls = process.platform === "linux" ? openLibrary(functions) : null;
  if (calls === null) return false;
  const listeners = descriptors().filter((descriptor) => listensOn(calls, descriptor, port));
  const filtered = listeners.filter((listener) => dropNewConnections(calls, listener));
  if (filtered.length === 0) return false;
  await untilHandshakesEnd(port, clock);
  const endsAt = clock.monotonic() + acceptQueueMsMax;
  while (filtered.some((listener) => hasQueued(calls, listener)) && clock.monotonic() < endsAt) await sleep(clock, pollMs);
  const closed = filtered.filter((listener) => replace(calls, listener));
  return closed.length === listeners.length && closed.length > 0;
}

const synReceived = "03";

/**
 * Connections to a port of this machine with a pending handshake, as Linux lists them: proc(5), /proc/net/tcp.
 * @returns their remote ends as the system writes them, for comparison only; null if the system does not list them
 */
export async function pendingHandshakes(port: number): Promise<string[] | null> {
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "latin1").catch(() => null)));
  if (tables[0] === null) return null;
  const local = port.toString(16).toUpperCase().padStart(4, "0");
  const row = new RegExp(`^ *\\d+: [0-9A-F]+:${local} ([0-9A-F]+:[0-9A-F]{4}) ${synReceived} `, "gm");
  return tables.flatMap((table) => [...(table ?? "").matchAll(row)].map(([, other = ""]) => other));
}

const functions = {
  setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" },
  getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
  getsockname: { args: ["i32", "ptr", "ptr"], returns: "i32" },
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
  dup2: { args: ["i32", "i32"], returns: "i32" },
  close: { args: ["i32"], returns: "i32" },
} as const;

type Calls = NonNullable<ReturnType<typeof openLibrary<typeof functions>>>;

const openFiles = "/proc/self/fd";

/** Empty if the system does not list them, or this process has no descriptor left to read the list. */
function descriptors(): number[] {
  try {
    return readdirSync(openFiles).map(Number);
  } catch {
    return [];
  }
}

const solSocket = 1;
const soAcceptConn = 30;
const addressBytes = 28;

function listensOn(calls: Calls, descriptor: number, port: number): boolean {
  const [answer, length] = [new Int32Array(1), new Uint32Array([4])];
  if (calls.getsockopt(descriptor, solSocket, soAcceptConn, ptr(answer), ptr(length)) !== 0 || answer[0] !== 1) return false;
  const [address, size] = [new DataView(new ArrayBuffer(addressBytes)), new Uint32Array([addressBytes])];
  return calls.getsockname(descriptor, ptr(address), ptr(size)) === 0 && address.getUint16(2) === port;
}

/** Classic BPF: LD B ABS 13 (the flags of the TCP header); AND SYN|ACK; JEQ SYN; RET 0 (drop); RET all (pass). */
const noNewConnections = [
  { code: 0x30, jumpTrue: 0, jumpFalse: 0, value: 13 },
  { code: 0x54, jumpTrue: 0, jumpFalse: 0, value: 0x12 },
  { code: 0x15, jumpTrue: 0, jumpFalse: 1, value: 0x02 },
  { code: 0x06, jumpTrue: 0, jumpFalse: 0, value: 0 },
  { code: 0x06, jumpTrue: 0, jumpFalse: 0, value: 0xffff_ffff },
];

const soAttachFilter = 26;

function dropNewConnections(calls: Calls, listener: number): boolean {
  const program = new DataView(new ArrayBuffer(8 * noNewConnections.length));
  for (const [index, { code, jumpTrue, jumpFalse, value }] of noNewConnections.entries()) {
    program.setUint16(8 * index, code, true);
    program.setUint8(8 * index + 2, jumpTrue);
    program.setUint8(8 * index + 3, jumpFalse);
    program.setUint32(8 * index + 4, value, true);
  }
  const filter = new DataView(new ArrayBuffer(16));
  filter.setUint16(0, noNewConnections.length, true);
  filter.setBigUint64(8, BigInt(ptr(program)), true);
  return calls.setsockopt(listener, solSocket, soAttachFilter, ptr(filter), filter.byteLength) === 0;
}

/** Waits until the currently pending handshakes have ended. The table also lists handshakes of other listeners; this waits for them too. */
async function untilHandshakesEnd(port: number, clock: Clock): Promise<void> {
  const endsAt = clock.monotonic() + handshakeMsMax;
  await sleep(clock, pollMs);
  let pending = await pendingHandshakes(port);
  while (pending?.length !== 0 && clock.monotonic() < endsAt) {
    await sleep(clock, pollMs);
    const now = await pendingHandshakes(port);
    if (now !== null) pending = pending?.filter((other) => now.includes(other)) ?? now;
  }
}

const infoBytes = 32;
const ipprotoTcp = 6;
const tcpInfo = 11;

/** The offset of the number of queued connections in the information about a listener. */
const queuedAt = 24;

/** A busy server may not have accepted all queued connections yet. */
function hasQueued(calls: Calls, listener: number): boolean {
  const [info, length] = [new DataView(new ArrayBuffer(infoBytes)), new Uint32Array([infoBytes])];
  return calls.getsockopt(listener, ipprotoTcp, tcpInfo, ptr(info), ptr(length)) === 0 && info.getUint32(queuedAt, true) > 0;
}

const afInet = 2;
const sockStream = 1;

/** Replaces the listener with an idle socket in one step, so that no one else gets its descriptor; the kernel closes the listener. */
function replace(calls: Calls, listener: number): boolean {
  const idle = calls.socket(afInet, sockStream, 0);
  if (idle < 0) return false;
  const replaced = calls.dup2(idle, listener) === listener;
  calls.close(idle);
  return replaced;
}

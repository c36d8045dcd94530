/**
 * Takes this process off a port that others listen on too, without losing a connection. The kernel gives each new connection to one of
 * the listeners, and resets what a listener has when it closes: those in its queue, and those whose handshake is under way. So the
 * listener first lets the packet that opens a connection (SYN) fall, by a filter in the kernel: its sender repeats it after a second and
 * then meets another listener. Handshakes under way end, the server takes what they bring, and the listener closes empty.
 *
 * On Linux, where the C library can be called; elsewhere the port is left as it is, to be closed at once. Filters of sockets:
 * https://www.kernel.org/doc/Documentation/networking/filter.rst.
 */
import { dlopen, ptr } from "bun:ffi";
import { existsSync, readdirSync } from "node:fs";
import { sleep, type Clock } from "../kernel/clock.ts";
import { handshakeMsMax } from "./limits.ts";
import { pendingHandshakes } from "./pending-handshakes.ts";

const solSocket = 1;
const ipprotoTcp = 6;
const tcpInfo = 11;
const soAttachFilter = 26;
const soAcceptConn = 30;
const afInet = 2;
const sockStream = 1;
const addressBytes = 28;
const infoBytes = 32;
/** Where the information about a listener says how many connections wait to be taken. */
const waitingAt = 24;
const lookMs = 10;
const openFiles = "/proc/self/fd";

/** From the TCP header: load the flags, of them SYN and ACK. A packet with SYN alone falls (none of its bytes is kept), every other one passes. */
const noNewConnections = [
  { code: 0x30, jumpTrue: 0, jumpFalse: 0, value: 13 },
  { code: 0x54, jumpTrue: 0, jumpFalse: 0, value: 0x12 },
  { code: 0x15, jumpTrue: 0, jumpFalse: 1, value: 0x02 },
  { code: 0x06, jumpTrue: 0, jumpFalse: 0, value: 0 },
  { code: 0x06, jumpTrue: 0, jumpFalse: 0, value: 0xffff_ffff },
];

const libraries = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

const functions = {
  setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" },
  getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
  getsockname: { args: ["i32", "ptr", "ptr"], returns: "i32" },
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
  dup2: { args: ["i32", "i32"], returns: "i32" },
  close: { args: ["i32"], returns: "i32" },
} as const;

type Calls = ReturnType<typeof dlopen<typeof functions>>["symbols"];

/**
 * Resolves when the port's listeners of this process are closed; connections that were taken stay as they are. Whoever listened still
 * closes its own descriptor, which by then is a socket that nothing ever reached.
 * Never rejects. @returns whether it could be done; if not, all is as before
 */
export async function leavePort(port: number, clock: Clock): Promise<boolean> {
  const calls = process.platform === "linux" ? openLibrary() : null;
  if (calls === null) return false;
  const listeners = descriptors().filter((descriptor) => listensOn(calls, descriptor, port));
  const quiet = listeners.filter((listener) => refuseNew(calls, listener));
  await untilShaken(port, clock);
  const endsAt = clock.monotonic() + handshakeMsMax;
  while (quiet.some((listener) => isWaitedFor(calls, listener)) && clock.monotonic() < endsAt) await sleep(clock, lookMs);
  const closed = quiet.filter((listener) => replace(calls, listener));
  return closed.length === listeners.length && closed.length > 0;
}

/** Until the handshakes that are under way now have ended; those of the other listeners cannot be told from ours, and end as soon. */
async function untilShaken(port: number, clock: Clock): Promise<void> {
  const endsAt = clock.monotonic() + handshakeMsMax;
  await sleep(clock, lookMs);
  let underWay = await pendingHandshakes(port);
  while (underWay?.length !== 0 && clock.monotonic() < endsAt) {
    await sleep(clock, lookMs);
    const now = new Set(await pendingHandshakes(port));
    underWay = underWay?.filter((other) => now.has(other)) ?? null;
  }
}

function openLibrary(): Calls | null {
  for (const library of libraries) {
    try {
      return dlopen(library, functions).symbols;
    } catch {
      // Another C library, or none that may be called.
    }
  }
  return null;
}

/** None where the system does not say. */
function descriptors(): number[] {
  return existsSync(openFiles) ? readdirSync(openFiles).map(Number) : [];
}

function listensOn(calls: Calls, descriptor: number, port: number): boolean {
  const [answer, length] = [new Int32Array(1), new Uint32Array([4])];
  if (calls.getsockopt(descriptor, solSocket, soAcceptConn, ptr(answer), ptr(length)) !== 0 || answer[0] !== 1) return false;
  const [address, size] = [new DataView(new ArrayBuffer(addressBytes)), new Uint32Array([addressBytes])];
  return calls.getsockname(descriptor, ptr(address), ptr(size)) === 0 && address.getUint16(2) === port;
}

function refuseNew(calls: Calls, listener: number): boolean {
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

/** A server that was busy all the while has not taken what waits yet. */
function isWaitedFor(calls: Calls, listener: number): boolean {
  const [info, length] = [new DataView(new ArrayBuffer(infoBytes)), new Uint32Array([infoBytes])];
  return calls.getsockopt(listener, ipprotoTcp, tcpInfo, ptr(info), ptr(length)) === 0 && info.getUint32(waitingAt, true) > 0;
}

/** In one step, so that the number never is somebody else's: the kernel closes the listener, and forgets that it was waited for. */
function replace(calls: Calls, listener: number): boolean {
  const idle = calls.socket(afInet, sockStream, 0);
  if (idle < 0) return false;
  const replaced = calls.dup2(idle, listener) === listener;
  calls.close(idle);
  return replaced;
}

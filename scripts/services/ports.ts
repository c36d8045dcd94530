/**
 * Finds free ports on loopback, and speaks one line with a server there.
 *
 * A chosen port counts as free until its server listens, which may take seconds. A file in the temporary folder therefore keeps each chosen
 * port from other callers of this function for a minute. Any other program may still take it.
 */
import { randomInt } from "node:crypto";
import { mkdir, open, stat, utimes } from "node:fs/promises";
import { createServer, createConnection } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { errorCode } from "../../src/kernel/error-code.ts";

/**
 * Below the ports that systems use for outgoing connections: a client that tries to reconnect to a stopped server could get the
 * server's own port from these, and so prevent its restart.
 */
const portMin = 10_000;
const portMax = 20_000;
const attemptsMax = 100;
/** How long a chosen port is left to its chooser. */
const chosenMs = 60_000;

/** A port without a listener, for which the ports at these distances above have none either (Redis Cluster: 10,000). */
export async function freePort({ also = [] }: { also?: readonly number[] } = {}): Promise<number> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const port = randomInt(portMin, portMax);
    const free = await Promise.all([0, ...also].map((distance) => isFree(port + distance)));
    if (!free.includes(false) && (await choose(port))) return port;
  }
  throw new Error(`Cannot find a free port: ${attemptsMax} from ${portMin} to ${portMax} were in use`);
}

/** @returns false: another chose it in the last minute */
async function choose(port: number): Promise<boolean> {
  const folder = join(tmpdir(), `weir-ports-${userInfo().uid}`);
  await mkdir(folder, { recursive: true });
  const path = join(folder, String(port));
  try {
    await (await open(path, "wx")).close();
    return true;
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
  const now = Date.now();
  if ((await stat(path)).mtimeMs > now - chosenMs) return false;
  await utimes(path, now / 1_000, now / 1_000);
  return true;
}

export function isFree(port: number, host = "127.0.0.1"): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

interface Exchange {
  port: number;
  /** Sent when the connection is open. */
  send: string;
  /** Ends the exchange. */
  expect: RegExp;
}

const answerMsMax = 2_000;

/** Sends one request to a local server in its own protocol. Resolves with the reply. @throws Error for another reply */
export function exchange({ port, send, expect }: Exchange): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const socket = createConnection({ port, host: "127.0.0.1" });
    const fail = (why: string) => {
      socket.destroy();
      reject(new Error(`Cannot talk to the server on port ${port}: ${why}`));
    };
    socket.setTimeout(answerMsMax, () => fail("no answer in time"));
    socket.on("error", (error) => fail(error.message));
    socket.on("close", () => fail(`it answered "${said}"`));
    socket.on("connect", () => socket.write(send));
    socket.on("data", (data) => {
      said += data.toString();
      if (!expect.test(said)) return;
      resolve(said);
      socket.destroy();
    });
  });
}

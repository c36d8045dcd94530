import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below the ports that systems use for outgoing connections: a client that tries to reconnect to a stopped server could get the
 * server's own port from these, and so prevent its restart.
 */
const portMin = 10_000;
const portMax = 20_000;
const attemptsMax = 100;

/** A port without a listener, whose port `alsoOffset` above it has none either (Redis Cluster: 10,000). */
export async function freePort({ alsoOffset = 0 } = {}): Promise<number> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const port = randomInt(portMin, portMax);
    if ((await isFree(port)) && (alsoOffset === 0 || (await isFree(port + alsoOffset)))) return port;
  }
  throw new Error(`Cannot find a free port: ${attemptsMax} from ${portMin} to ${portMax} were in use`);
}

export function isFree(port: number, host = "127.0.0.1"): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

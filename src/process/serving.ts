/**
 * What all processes that serve HTTP share: the settings of Bun's server, the separate port for /metrics and /health, and the signal that
 * shuts the process down. A second signal, at least a second later, ends it at once.
 */
import { createServer } from "node:http";
import { observe, registry } from "../kernel/metrics.ts";
import { ConfigError } from "./environment/variables.ts";
import { serverBodyBytesMax } from "./limits.ts";
import { version } from "./version.ts";

/** Settings of Bun's server. */
export const serverSettings = {
  /** Bun's maximum, in seconds; handlers set shorter limits themselves. */
  idleTimeout: 255,
  maxRequestBodySize: serverBodyBytesMax,
  // Without NODE_ENV=production Bun would print the error of an aborted stream, with source code, between the JSON lines of the log.
  // The code that aborts a stream logs what matters.
  development: false,
};

observe("weir_build_info", () => ({ [version]: 1 }));

interface MetricsAddress {
  metricsHost: string;
  /** null: nothing is served. */
  metricsPort: number | null;
}

/**
 * Serves /metrics and /health. This port needs no token, so by default it listens on loopback only. @throws ConfigError if the port is
 * taken
 */
export async function serveMetrics({ metricsHost: host, metricsPort: port }: MetricsAddress): Promise<AsyncDisposable> {
  if (port === null) return new AsyncDisposableStack();
  const server = createServer((request, response) => {
    if (request.url === "/health") return void response.setHeader("content-type", "text/plain; charset=utf-8").end("ok\n");
    if (request.url !== "/metrics") return void response.writeHead(404).end();
    void registry.metrics().then((text) => response.setHeader("content-type", registry.contentType).end(text));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = `The metrics port ${port} on ${host} is taken: set another METRICS_PORT`;
      reject(error.code === "EADDRINUSE" ? new ConfigError(taken) : error);
    });
    server.listen(port, host, resolve);
  });
  return {
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** Resolves with the name of the first SIGINT or SIGTERM. */
export function shutdownSignal(): Promise<string> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    const stop = (signal: string): void => {
      if (askedAt === null) {
        askedAt = performance.now();
        resolve(signal);
      } else if (performance.now() - askedAt > 1_000) {
        process.exit(130);
      }
    };
    process.on("SIGINT", () => stop("SIGINT"));
    process.on("SIGTERM", () => stop("SIGTERM"));
  });
}

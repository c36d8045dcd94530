/** A process's own port for what watches it: /metrics and /health. It asks for no token, so it listens on loopback unless told otherwise. */
import { createServer } from "node:http";
import type { Config } from "../config.ts";
import { ConfigError } from "./variables.ts";
import { registry } from "../kernel/metrics.ts";

/**
 * Nothing where the configuration names no such port.
 * @throws ConfigError when the port is taken
 */
export async function serveMetrics({ metricsHost: host, metricsPort: port }: Config): Promise<AsyncDisposable> {
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

/** Serves /metrics and /health on a port of their own. It needs no token, so by default it listens on loopback only. */
import { createServer } from "node:http";
import { ConfigError } from "./variables.ts";
import { observe, registry } from "../kernel/metrics.ts";
import { version } from "./version.ts";

observe("weir_build_info", () => ({ [version]: 1 }));

interface MetricsAddress {
  metricsHost: string;
  /** null: nothing is served. */
  metricsPort: number | null;
}

/** @throws ConfigError if the port is taken */
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

/** A worker's own port for what watches it: /metrics and /health. */
import { createServer } from "node:http";
import { registry } from "../kernel/metrics.ts";

export async function serveMetrics({ host, port }: { host: string; port: number }): Promise<AsyncDisposable> {
  const server = createServer((request, response) => {
    if (request.url === "/health") return void response.setHeader("content-type", "text/plain; charset=utf-8").end("ok\n");
    if (request.url !== "/metrics") return void response.writeHead(404).end();
    void registry.metrics().then((text) => response.setHeader("content-type", registry.contentType).end(text));
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  return {
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

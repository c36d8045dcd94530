/**
 * Exits 0 if the process of this container answers /health, for health checks in images without curl. A worker, and a gateway with
 * METRICS_PORT, answers on that port.
 */
import { readClientConfig, readMetricsPort } from "../src/config.ts";

const answerMsMax = 4_000;

const metricsPort = readMetricsPort();
const url = metricsPort === null ? readClientConfig().url : `http://127.0.0.1:${metricsPort}`;
try {
  const { status } = await fetch(`${url}/health`, { signal: AbortSignal.timeout(answerMsMax) });
  if (status !== 200) throw new Error(`status ${status}`);
} catch (error) {
  console.error(`${url}/health: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

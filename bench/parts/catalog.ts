/** Measures the connector catalog for one client at a time: the whole export, 304 answers, and pages. */
import { rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { freePort } from "../../scripts/services/ports.ts";
import { Histogram, type Summary } from "../load/histogram.ts";
import { dataFolder } from "../paths.ts";
import { Child } from "../processes/child.ts";

export interface Catalog {
  /** Latency is from the first byte sent to the last one received; `bytes` is the size of the last answer. */
  cases: { name: CaseName; bytes: number; latencyMs: Summary | null; failed: number }[];
}

type CaseName = "export" | "compressed export" | "304" | "list page" | "connector pages";

export interface CatalogPlan {
  seconds: number;
  say(line: string): void;
}

const path = "/api/connector-exports/latest.ndjson";
const warmUpCount = 200;

/** Runs the service as `npm start` does, with its own catalog. */
export async function runCatalog({ seconds, say }: CatalogPlan): Promise<Catalog> {
  const folder = join(dataFolder, "catalog-run");
  rmSync(folder, { recursive: true, force: true });
  const port = await freePort();
  const environment = { PORT: String(port), DATA_DIR: folder, LOG_LEVEL: "warn" };
  await using service = new Child({ name: "service", arguments: ["src/main.ts"], environment });
  const url = `http://127.0.0.1:${port}`;
  await service.ready(async () => (await fetch(url + path).catch(() => null))?.status === 200);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (headers: Record<string, string>, of = path): Promise<Answered> => get({ url: url + of, agent, headers });
  const { etag } = await ask({});
  const pages = await pagesInTurn(url);
  const gzip = { "accept-encoding": "gzip" };
  const questions: { name: CaseName; status: number; ask: () => Promise<Answered> }[] = [
    { name: "export", status: 200, ask: () => ask({}) },
    { name: "compressed export", status: 200, ask: () => ask(gzip) },
    { name: "304", status: 304, ask: () => ask({ "if-none-match": etag }) },
    { name: "list page", status: 200, ask: () => ask(gzip, "/connectors") },
    { name: "connector pages", status: 200, ask: () => ask(gzip, pages()) },
  ];
  const cases: Catalog["cases"] = [];
  for (const { name, status, ask } of questions) {
    for (let n = 0; n < warmUpCount; n++) await ask();
    const measured = await measureFor(seconds, ask, status);
    cases.push({ name, ...measured });
    say(`catalog, ${name}: p99 ${measured.latencyMs?.p99} ms, ${measured.bytes} bytes, ${measured.failed} failed`);
  }
  agent.destroy();
  return { cases };
}

/** Requests all pages in order. There are more than a gateway caches, so none is cached when it is requested. */
async function pagesInTurn(url: string): Promise<() => string> {
  const lines = (await (await fetch(url + path)).text()).trimEnd().split("\n");
  const paths = lines.map((line) => `/connectors/${(JSON.parse(line) as { slug: string }).slug}`);
  let turn = 0;
  return () => paths[turn++ % paths.length] ?? "";
}

async function measureFor(
  seconds: number,
  ask: () => Promise<Answered>,
  expected: number,
): Promise<Omit<Catalog["cases"][number], "name">> {
  const latencies = new Histogram();
  let failed = 0;
  let bytes = 0;
  const endsAt = performance.now() + seconds * 1_000;
  for (let startedAt = performance.now(); startedAt < endsAt; startedAt = performance.now()) {
    const answered = await ask();
    latencies.add(performance.now() - startedAt);
    if (answered.status !== expected) failed++;
    bytes = answered.bytes;
  }
  return { bytes, latencyMs: latencies.summary(), failed };
}

interface Answered {
  status: number;
  bytes: number;
  etag: string;
}

/** Does not decompress the bytes, since that work would be measured too. */
function get({ url, agent, headers }: { url: string; agent: Agent; headers: Record<string, string> }): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers }, (response) => {
      let bytes = 0;
      response.on("data", (chunk: Buffer) => (bytes += chunk.length));
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, bytes, etag: response.headers.etag ?? "" }));
    });
    sent.on("error", reject).end();
  });
}

/** A stand-in for gateways behind a proxy, and what a proxy must do for them: SECURITY.md, "Run it behind a proxy". */
import { RawClient } from "../servers/raw-client.ts";
import { until } from "../until.ts";

const mebibyte = 1024 * 1024;
/** The largest file of a caller. */
const fileBytes = 50 * mebibyte;
const smallBytes = 1_000;
/** More than an address may send without a key. */
const floodRequests = 450;

/** All of them are /metrics to a gateway, which resolves dots and backslashes. */
const metricsPaths = [
  "/metrics",
  "/metrics?x=1",
  "/metrics/",
  "//metrics",
  "/./metrics",
  "/x/../metrics",
  "/x/%2e%2e/metrics",
  "/gpt/v1/../../metrics",
  "/%6d%65trics",
  "/metrics/x/..",
  String.raw`/x/..\metrics`,
  String.raw`/gpt/v1\..\..\metrics`,
];

/** Answers with the size of the body. A stream continues on request. */
export class StandInGateway implements AsyncDisposable {
  /** Paths of requests, as they came. */
  readonly seen: string[] = [];
  #goOn: () => void = () => {};
  readonly #server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: 2 * fileBytes,
    fetch: (request) => this.#answer(request),
  });

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** Sends the next piece of the stream. */
  goOn(): void {
    this.#goOn();
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/ready") return new Response("ready");
    this.seen.push(pathname);
    if (pathname === "/gpt/v1/stream") return new Response(this.#stream(), { headers: { "content-type": "text/event-stream" } });
    return new Response(String((await request.arrayBuffer()).byteLength));
  }

  async *#stream(): AsyncGenerator<string> {
    yield "data: 1\n\n";
    await new Promise<void>((resolve) => (this.#goOn = resolve));
    yield "data: 2\n\n";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}

/** What a proxy at the URL does not do for the gateway behind it; empty: it does all. */
export async function proxyFaults(url: string, gateway: StandInGateway): Promise<string[]> {
  const faults: string[] = [];
  for (const path of metricsPaths) {
    const answer = await new RawClient(Number(new URL(url).port))
      .send(`GET ${path} HTTP/1.1`, "Host: weir", "Connection: close", "", "")
      .answer();
    if (!/^HTTP\/1.1 4\d\d/.test(answer)) faults.push(`${path} is answered: ${answer.slice(0, 40)}`);
  }
  if (gateway.seen.some((path) => path.includes("metrics"))) faults.push(`a gateway got ${gateway.seen.join(", ")}`);
  if (!(await waitsForBody(url, gateway))) faults.push("a gateway gets a form before its body");
  const file = await fetch(`${url}/api/console/sboms`, { method: "POST", body: new Uint8Array(fileBytes) });
  if (file.status !== 200 || (await file.text()) !== String(fileBytes)) faults.push(`a file of 50 MiB got ${file.status}`);
  const chat = await fetch(`${url}/gpt/v1/chat/completions`, { method: "POST", body: new Uint8Array(8 * mebibyte) });
  if (chat.status !== 200) faults.push(`a chat of 8 MiB got ${chat.status}`);
  if (!(await streams(url, gateway))) faults.push("pieces of a stream do not come one by one");
  if (!(await flood(`${url}/console/sign-in`)).includes(429)) faults.push("an address has no limit of requests");
  if ((await flood(`${url}/gpt/v1/models`)).some((status) => status !== 200))
    faults.push("requests with keys are limited by address");
  return faults;
}

async function waitsForBody(url: string, { seen }: StandInGateway): Promise<boolean> {
  const path = "/console/slow";
  const client = new RawClient(Number(new URL(url).port));
  client.send(`POST ${path} HTTP/1.1`, "Host: weir", "Connection: close", `Content-Length: ${smallBytes}`, "", "a");
  // Others that come later are answered before it.
  for (let other = 0; other < 20; other++) await (await fetch(`${url}/console/other`)).text();
  const waits = !seen.includes(path);
  client.send("a".repeat(smallBytes - 1));
  return waits && (await client.answer()).startsWith("HTTP/1.1 200");
}

async function streams(url: string, gateway: StandInGateway): Promise<boolean> {
  const { body } = await fetch(`${url}/gpt/v1/stream`);
  let text = "";
  const reading = (async () => {
    for await (const piece of body ?? []) text += new TextDecoder().decode(piece);
  })();
  const came = await until(() => text === "data: 1\n\n").then(
    () => true,
    () => false,
  );
  gateway.goOn();
  await reading;
  return came && text === "data: 1\n\ndata: 2\n\n";
}

async function flood(url: string): Promise<number[]> {
  const request = async (): Promise<number> => {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.status;
  };
  return Promise.all(Array.from({ length: floodRequests }, request));
}

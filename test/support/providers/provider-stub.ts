/**
 * A provider over real HTTP on a free port, in the test's own process. It answers as the test configures (stub-answers.ts),
 * keeps every received call, and can hold its answers back. `stub-catalog.ts` writes a catalog that points at it.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { chat, type StubAnswer } from "./stub-answers.ts";
import { Watched } from "../watched.ts";

export interface StubCall {
  path: string;
  headers: Record<string, string>;
  rawBody: string;
  /** The parsed body. */
  body: Record<string, unknown>;
  /** Our generation id, as the caller sent it. */
  generation: string | null;
  streamed: boolean;
  /** open: the answer is not finished. cancelled: the caller closed the connection before the end. */
  state: "open" | "answered" | "cancelled" | "broken";
}

export class ProviderStub implements AsyncDisposable {
  readonly #server: Server;
  readonly #calls = new Watched<StubCall[]>([]);
  #standing: StubAnswer = chat("Hello from the stub");
  #once: StubAnswer[] = [];
  #gate: { opened: Promise<void>; open: () => void } | null = null;

  constructor() {
    this.#server = createServer((request, response) => void this.#receive(request, response));
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  /** The `base_url` for a catalog. */
  get url(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  get port(): number {
    // The server listens on a TCP port, so its address is neither a pipe's name nor null.
    return (this.#server.address() as AddressInfo).port;
  }

  /** All received calls, the oldest first. */
  get calls(): readonly StubCall[] {
    return this.#calls.value;
  }

  /** Answers every call this way from now on. */
  answer(answer: StubAnswer): void {
    this.#standing = answer;
  }

  /** Answers the next calls this way, one each, before the permanent answer applies again. */
  answerOnce(...answers: StubAnswer[]): void {
    this.#once.push(...answers);
  }

  /** Leaves received calls unanswered until `release`. */
  hold(): void {
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    this.#gate ??= { opened, open };
  }

  release(): void {
    this.#gate?.open();
    this.#gate = null;
  }

  /** Waits until this number of calls was received in all. @returns the last of them */
  async called(count = 1): Promise<StubCall> {
    const calls = await this.#calls.until((all) => all.length >= count, `${count} calls of the provider`);
    return present(calls[count - 1]);
  }

  /** Waits until the call with this number (from 1) is no longer open. */
  async ended(number = 1): Promise<StubCall> {
    const over = (calls: StubCall[]) => (calls[number - 1]?.state ?? "open") !== "open";
    return present((await this.#calls.until(over, `the end of call ${number}`))[number - 1]);
  }

  /** Closes every connection, like a provider that crashes. */
  dropConnections(): void {
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = await readCall(request);
    response.on("close", () => {
      if (call.state === "open") call.state = response.writableFinished ? "answered" : "cancelled";
      this.#calls.touch();
    });
    this.#calls.value.push(call);
    this.#calls.touch();
    const answer = this.#once.shift() ?? this.#standing;
    await this.#gate?.opened;
    if (!response.destroyed) await answer(response, call);
  }
}

export async function startProviderStub(answer?: StubAnswer): Promise<ProviderStub> {
  const stub = await new ProviderStub().listen();
  if (answer) stub.answer(answer);
  return stub;
}

async function readCall(request: IncomingMessage): Promise<StubCall> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks).toString();
  const body: Record<string, unknown> = JSON.parse(rawBody || "{}");
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const generation = headers["x-client-request-id"] ?? null;
  return { path: request.url ?? "", headers, rawBody, body, generation, streamed: body["stream"] === true, state: "open" };
}

function present(call: StubCall | undefined): StubCall {
  if (!call) throw new Error("The provider stub has no such call");
  return call;
}

/** The answers of a provider stub. An answer writes to the response as it likes; it runs once for each call. */
import { gzipSync } from "node:zlib";
import type { ServerResponse } from "node:http";
import type { StubCall } from "./provider-stub.ts";

export type StubAnswer = (response: ServerResponse, call: StubCall) => void | Promise<void>;

export interface ChatOptions {
  /** The reported usage; null: none. Default: 10 prompt tokens, and a completion token for each piece. */
  usage?: Record<string, unknown> | null;
  finish?: string;
  /** The pieces of a stream. Default: the words of the text. */
  pieces?: string[];
  gapMs?: number;
}

/** A good answer, whole or streamed as the call requests. */
export function chat(text: string, options: ChatOptions = {}): StubAnswer {
  const pieces = options.pieces ?? text.match(/\S+\s*|\s+/g) ?? [];
  const usage = options.usage === undefined ? usageOf(10, pieces.length) : options.usage;
  const finish = options.finish ?? "stop";
  const whole = json({ ...completion({ role: "assistant", content: text, refusal: null }, finish), ...(usage && { usage }) });
  const streamed = stream(
    [
      ...pieces.map((content, index) => chunk(index === 0 ? { role: "assistant", content } : { content })),
      chunk({}, finish),
      ...(usage ? [{ ...chunkHead, choices: [], usage }] : []),
    ],
    options.gapMs === undefined ? {} : { gapMs: options.gapMs },
  );
  return (response, call) => (call.streamed ? streamed : whole)(response, call);
}

/** Any JSON, valid or not. */
export function json(body: unknown, status = 200): StubAnswer {
  return text(JSON.stringify(body), { status, type: "application/json" });
}

/** An error in the form of chat-completions providers. */
export function error(status: number, code: string | null = null, message = "The stub fails as configured"): StubAnswer {
  return json({ error: { message, type: null, param: null, code } }, status);
}

/** Any bytes with any status, such as an empty body or the page of a proxy. */
export function text(body: string | Uint8Array, { status = 200, type = "text/plain" } = {}): StubAnswer {
  return (response) => void response.writeHead(status, { "content-type": type }).end(body);
}

export const empty: StubAnswer = text("");
export const htmlPage: StubAnswer = text("<html><body>502 Bad Gateway</body></html>", { type: "text/html" });

/** Compressed although the call did not request it. */
export function gzip(body: string | Uint8Array): StubAnswer {
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  return (response) => void response.writeHead(200, headers).end(gzipSync(body));
}

export function redirect(location: string): StubAnswer {
  return (response) => void response.writeHead(307, { location }).end();
}

/** Accepts the call and never answers. */
export const hang: StubAnswer = () => {};

/** Sends the head of a stream and nothing after it. */
export const silent: StubAnswer = (response) => void startStream(response);

export interface StreamOptions {
  gapMs?: number;
  /** The end of the stream. `break`: the connection breaks. `open`: it stays open. */
  end?: "done" | "no done" | "break" | "open";
}

/** These chunks as an event stream, with `[DONE]` by default. */
export function stream(chunks: unknown[], { gapMs = 0, end = "done" }: StreamOptions = {}): StubAnswer {
  return async (response, call) => {
    startStream(response);
    for (const [index, value] of chunks.entries()) {
      if (index > 0 && gapMs > 0) await new Promise((resolve) => setTimeout(resolve, gapMs));
      if (response.destroyed) return;
      response.write(`data: ${JSON.stringify(value)}\n\n`);
    }
    if (end === "break") return breakOff(response, call);
    if (end === "done") response.write("data: [DONE]\n\n");
    if (end !== "open") response.end();
  };
}

/** Bytes of an event stream unchanged, one write each. */
export function rawStream(...writes: (string | Uint8Array)[]): StubAnswer {
  return (response) => {
    startStream(response);
    for (const bytes of writes) response.write(bytes);
    response.end();
  };
}

/** A stream that the test writes while it is open. */
export class ManualStream {
  readonly #opened = Promise.withResolvers<{ response: ServerResponse; call: StubCall }>();
  readonly answer: StubAnswer = (response, call) => {
    startStream(response);
    this.#opened.resolve({ response, call });
  };

  /** Sends text unchanged. */
  async write(bytes: string | Uint8Array): Promise<void> {
    (await this.#opened.promise).response.write(bytes);
  }

  async send(value: unknown): Promise<void> {
    await this.write(`data: ${JSON.stringify(value)}\n\n`);
  }

  /** Sends a piece of the answer's text. */
  async piece(content: string): Promise<void> {
    await this.send(chunk({ content }));
  }

  async finish(usage: Record<string, unknown> | null = usageOf(10, 1)): Promise<void> {
    await this.send(chunk({}, "stop"));
    if (usage) await this.send({ ...chunkHead, choices: [], usage });
    await this.write("data: [DONE]\n\n");
    (await this.#opened.promise).response.end();
  }

  /** Breaks the connection. */
  async break(): Promise<void> {
    const { response, call } = await this.#opened.promise;
    breakOff(response, call);
  }
}

const chunkHead = { id: "chatcmpl-stub", object: "chat.completion.chunk", created: 1_795_000_000, model: "stub-model" };

export function chunk(delta: Record<string, unknown>, finishReason: string | null = null): Record<string, unknown> {
  return { ...chunkHead, choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }] };
}

export function completion(message: Record<string, unknown>, finishReason = "stop"): Record<string, unknown> {
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finishReason }];
  return { ...chunkHead, object: "chat.completion", choices };
}

export function usageOf(prompt: number, completionTokens: number): Record<string, unknown> {
  return { prompt_tokens: prompt, completion_tokens: completionTokens, total_tokens: prompt + completionTokens };
}

function startStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
}

/** A broken connection discards what its reader has not read, so written bytes get time to arrive. */
function breakOff(response: ServerResponse, call: StubCall): void {
  call.state = "broken";
  setTimeout(() => response.socket?.destroy(), 30);
}

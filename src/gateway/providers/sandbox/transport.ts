/**
 * A provider inside the process, for trying and testing the service without a provider account. It replaces only the network: encoding,
 * timeouts, decoding and metering are the same as for every other provider. An answer is written as chat completions, whole, as a stream or
 * as vectors, each piece when the caller asks for it.
 */
import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { sleep, type Clock } from "../../../kernel/clock.ts";
import type { ResponseHead } from "../transport/answer-reader.ts";
import type { BytesReceiver, Transport, TransportCall } from "../transport/transport.ts";
import { asObject, parseJson, type JsonObject, asArray, asCount, asText } from "../wire/json.ts";
import { sandboxAnswer, type SandboxAnswer, sandboxCommand, type SandboxCommand, tokenCount } from "./answer.ts";

export function sandboxOf(clock: Clock): Transport {
  return {
    post({ pathname }, { body }) {
      const request = asObject(parseJson(Buffer.from(body).toString())) ?? {};
      return new SandboxCall(pathname === "/embeddings" ? embeddingsPlan(request) : plan(request, clock), clock);
    },
  };
}

/** The answer and its delays. */
interface Plan {
  status: number;
  /** Delays in milliseconds before the head, the first piece and each further piece; Infinity: for ever. */
  waits: { head: number; first: number; next: number };
  pieces: Iterator<string>;
  /** The connection breaks after this number of pieces. */
  breakAfter: number | null;
}

function plan(request: JsonObject, clock: Clock): Plan {
  const answer = sandboxAnswer(request);
  if (answer === null) return failed(400, 0, "The sandbox does not know this command");
  const { status, delayMs, gapMs, silent, breakAfter } = answer.command;
  const firstMs = silent ? Infinity : delayMs;
  if (status !== null) return failed(status, firstMs, "The sandbox fails as requested");
  const created = Math.floor(clock.now() / 1_000);
  if (request["stream"] === true) {
    const waits = { head: 0, first: firstMs, next: gapMs };
    return { status: 200, waits, pieces: streamedCompletion(answer, created), breakAfter };
  }
  return wholeOrBroken(firstMs, wholeCompletion(answer, created), breakAfter);
}

function embeddingsPlan(request: JsonObject): Plan {
  const answer = sandboxEmbeddings(request);
  if (answer === null) return failed(400, 0, "The sandbox does not know this command");
  const { status, delayMs, silent, breakAfter } = answer.command;
  const firstMs = silent ? Infinity : delayMs;
  if (status !== null) return failed(status, firstMs, "The sandbox fails as requested");
  return wholeOrBroken(firstMs, JSON.stringify(answer.body), breakAfter);
}

function wholeOrBroken(firstMs: number, text: string, breakAfter: number | null): Plan {
  const sent = breakAfter === null ? text : text.slice(0, text.length / 2);
  return whole(200, firstMs, sent, breakAfter === null ? null : 1);
}

function failed(status: number, delayMs: number, message: string): Plan {
  return whole(status, delayMs, errorBody(status, message), null);
}

function whole(status: number, delayMs: number, text: string, breakAfter: number | null): Plan {
  return { status, waits: { head: delayMs, first: 0, next: 0 }, pieces: [text].values(), breakAfter };
}

/** Produces a piece only on request. */
class SandboxCall implements TransportCall {
  readonly connecting = null;
  readonly #plan: Plan;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #sent = 0;

  constructor(planned: Plan, clock: Clock) {
    this.#plan = planned;
    this.#clock = clock;
  }

  async head(): Promise<ResponseHead> {
    const { status, waits } = this.#plan;
    await this.#wait(waits.head);
    return { status, headers: {} };
  }

  read(receiver: BytesReceiver): void {
    this.#next().then(
      (bytes) => receiver.take(bytes),
      (reason: unknown) => receiver.fail(reason),
    );
  }

  end(reason: Error): void {
    this.#controller.abort(reason);
  }

  async #next(): Promise<Uint8Array | null> {
    const { waits, pieces, breakAfter } = this.#plan;
    if (this.#sent === breakAfter) throw new Error("The sandbox broke the connection");
    await this.#wait(this.#sent === 0 ? waits.first : waits.next);
    const { done, value } = pieces.next();
    if (done) return null;
    this.#sent++;
    return encoder.encode(value);
  }

  async #wait(ms: number): Promise<void> {
    const { signal } = this.#controller;
    if (ms === Infinity) await aborted(signal);
    else if (ms > 0) await sleep(this.#clock, ms, signal);
    signal.throwIfAborted();
  }
}

const encoder = new TextEncoder();

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

// Chat completions

/** @param created Unix seconds */
function wholeCompletion({ tokens, tool, finish, usage, model }: SandboxAnswer, created: number): string {
  const text = tokens.join("");
  const call = tool && { id: "call_sandbox", type: "function", function: { name: tool.name, arguments: text } };
  const message = { role: "assistant", refusal: null, ...(call ? { content: null, tool_calls: [call] } : { content: text }) };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }];
  return JSON.stringify({ id: "chatcmpl-sandbox", object: "chat.completion", created, model, choices, ...(usage && { usage }) });
}

/** The events of a stream in order, each written on request: one per token, the finish, the usage, the end. */
function* streamedCompletion(answer: SandboxAnswer, created: number): Generator<string> {
  const { tokens, finish, usage, model } = answer;
  const head = { id: "chatcmpl-sandbox", object: "chat.completion.chunk", created, model };
  const chunk = (delta: JsonObject, reason: string | null) =>
    event({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }], usage: null });
  for (const [index, token] of tokens.entries()) yield chunk(deltaOf(answer, token, index === 0), null);
  if (tokens.length === 0) yield chunk({ role: "assistant", content: "" }, null);
  yield chunk({}, finish);
  if (usage) yield event({ ...head, choices: [], usage });
  yield "data: [DONE]\n\n";
}

function deltaOf({ tool }: SandboxAnswer, token: string, first: boolean): JsonObject {
  const role = first ? { role: "assistant" } : {};
  if (tool === null) return { ...role, content: token };
  if (!first) return { tool_calls: [{ index: 0, function: { arguments: token } }] };
  const call = { index: 0, id: "call_sandbox", type: "function", function: { name: tool.name, arguments: token } };
  return { ...role, content: null, tool_calls: [call] };
}

function errorBody(status: number, message: string): string {
  return JSON.stringify({ error: { message, type: null, param: null, code: String(status) } });
}

function event(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

// Embeddings: vectors of length 1 from a hash of the text, the same for the same text

/** The length of SHA-512 in bytes. */
const dimensionsMax = 64;
const byteMiddle = 127.5;

interface SandboxEmbeddings {
  command: SandboxCommand;
  body: JsonObject;
}

/** Commands for output have no meaning here. @returns null for such a command, or an unknown one */
function sandboxEmbeddings(request: JsonObject): SandboxEmbeddings | null {
  const inputs = asArray(request["input"]);
  const command = sandboxCommand(inputs.map(asText).findLast((text) => text?.startsWith("sandbox:")) ?? "");
  if (command === null || command.tokens !== null || command.gapMs > 0) return null;
  const dimensions = Math.min(asCount(request["dimensions"]) ?? dimensionsMax, dimensionsMax);
  const data = inputs.map((input, index) => {
    const vector = vectorOf(JSON.stringify([input, request["input_type"] ?? "document"]), dimensions);
    return { object: "embedding", index, embedding: Buffer.from(vector.buffer).toString("base64") };
  });
  const counted = inputs.reduce<number>((sum, input) => sum + countOf(input), 0);
  const tokens = command.usage?.input ?? counted;
  const usage = command.noUsage ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } };
  return { command, body: { object: "list", model: request["model"], data, ...usage } };
}

function vectorOf(text: string, dimensions: number): Float32Array {
  const bytes = hash("sha512", text, "buffer").subarray(0, dimensions);
  const length = Math.hypot(...[...bytes].map((byte) => byte - byteMiddle));
  return Float32Array.from(bytes, (byte) => (byte - byteMiddle) / length);
}

function countOf(input: unknown): number {
  return typeof input === "string" ? tokenCount(input) : asArray(input).length;
}

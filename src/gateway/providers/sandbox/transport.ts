/**
 * A provider inside the process, for trying and testing the service without a provider account. It replaces only the network:
 * encoding, timeouts, decoding and metering are the same as for every other provider.
 */
import { sleep, type Clock } from "../../../kernel/clock.ts";
import { asObject, parseJson, type JsonObject } from "../wire/json.ts";
import type { BytesReceiver, ResponseHead, Transport, TransportCall } from "../transport/transport.ts";
import { sandboxAnswer } from "./answer.ts";
import { sandboxEmbeddings } from "./embed.ts";
import { errorBody, streamedCompletion, wholeCompletion } from "./wire.ts";

export function sandboxOf(clock: Clock): Transport {
  return {
    post({ pathname }, { body }) {
      const request = asObject(parseJson(body)) ?? {};
      return new SandboxCall(pathname === "/embeddings" ? embeddingsPlan(request) : plan(request, clock), clock);
    },
  };
}

/** The answer and its delays. */
interface Plan {
  status: number;
  /** Delays in milliseconds before the head, the first piece and each further piece; Infinity means for ever. */
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

/** One call to a provider under four clocks: whatever it waits for, it waits no longer than they allow. */
import type { Clock } from "../../../kernel/clock.ts";
import { sharedTimerOf, type TimerListener } from "./shared-timer.ts";
import { UpstreamFailure } from "../provider.ts";
import {
  StaleConnectionError,
  type Body,
  type BytesReceiver,
  type ResponseHead,
  type Post,
  type PostOptions,
  type Transport,
  type TransportCall,
} from "./transport.ts";
import { decompressed } from "./decompress.ts";

/** Milliseconds. */
export interface ProviderClocks {
  connectMs: number;
  /** From sending to the first byte of the answer's body. */
  firstByteMs: number;
  /** Between two chunks of the answer, while somebody waits for the next one. */
  idleMs: number;
  /** From the start of the generation. */
  streamMs: number;
}

/** Kept until the head is here, and not with a stream that goes on for long: what is called may hold the whole request. */
export interface SendOptions extends PostOptions {
  /** Called when the request goes out. */
  onSent?: (() => void) | undefined;
  onResent?: (() => void) | undefined;
}

export interface UpstreamCallOptions {
  clock: Clock;
  clocks: ProviderClocks;
  /** Monotonic milliseconds. */
  startedAt: number;
}

export class UpstreamCall implements Body, BytesReceiver, TimerListener {
  readonly #clock: Clock;
  readonly #clocks: ProviderClocks;
  readonly #endsAt: number;
  #phase: "connection" | "first byte" | "next byte" = "connection";
  #firstByteBy = Infinity;
  /** Monotonic milliseconds: when what is being waited for is too late. */
  #dueBy = Infinity;
  #call: TransportCall | null = null;
  #body: Body | null = null;
  #taker: BytesReceiver | null = null;
  #failure: UpstreamFailure | null = null;

  constructor({ clock, clocks, startedAt }: UpstreamCallOptions) {
    this.#clock = clock;
    this.#clocks = clocks;
    this.#endsAt = startedAt + clocks.streamMs;
    sharedTimerOf(clock).add(this);
  }

  /** Why the upstream was ended from this side; null: it was not. */
  get failure(): UpstreamFailure | null {
    return this.#failure;
  }

  /**
   * Sends the request and waits for the head of its answer. Where a connection that was kept turns out to be closed, nothing of
   * an answer has come, and the request goes out once more over a new one, which `onResent` is told.
   * @throws UpstreamFailure
   */
  async post(
    transport: Transport,
    url: URL,
    post: Post,
    { fresh = false, onSent, onResent }: SendOptions = {},
  ): Promise<ResponseHead> {
    try {
      if (this.#failure !== null) throw this.#failure;
      return await this.#send(transport.post(url, post, { fresh }), onSent);
    } catch (error) {
      if (!(error instanceof StaleConnectionError)) throw this.#explained(error);
    }
    onResent?.();
    return this.#send(transport.post(url, post, { fresh: true }), onSent).catch((error: unknown) => {
      throw this.#explained(error);
    });
  }

  async #send(call: TransportCall, onSent?: () => void): Promise<ResponseHead> {
    this.#call = call;
    if (call.connecting !== null) {
      this.#phase = "connection";
      this.#dueBy = this.#clock.monotonic() + this.#clocks.connectMs;
      await call.connecting;
    }
    onSent?.();
    this.#phase = "first byte";
    this.#firstByteBy = this.#clock.monotonic() + this.#clocks.firstByteMs;
    this.#dueBy = this.#firstByteBy;
    const head = await call.head();
    const coding = head.headers.get("content-encoding") ?? "identity";
    this.#body = coding === "identity" ? call : decompressed(call, coding);
    this.#dueBy = Infinity;
    return head;
  }

  /** They are due within the first-byte clock, or as long after as nobody asks for them. */
  read(taker: BytesReceiver): void {
    if (this.#failure !== null) return taker.fail(this.#failure);
    if (this.#body === null) return taker.take(null);
    this.#dueBy = this.#phase === "first byte" ? this.#firstByteBy : this.#clock.monotonic() + this.#clocks.idleMs;
    this.#taker = taker;
    this.#body.read(this);
  }

  look(nowMs: number): void {
    if (nowMs >= this.#endsAt) this.end(timeout(`not done within ${this.#clocks.streamMs} ms`));
    else if (nowMs >= this.#dueBy) this.end(timeout(`no ${this.#phase} within ${this.#phaseMs()} ms`));
  }

  take(bytes: Uint8Array | null): void {
    this.#phase = "next byte";
    this.#dueBy = Infinity;
    this.#taker?.take(bytes);
  }

  /** Tells an UpstreamFailure. */
  fail(reason: unknown): void {
    this.#taker?.fail(this.#explained(reason));
  }

  /** Ends the upstream for this reason; what is being waited for rejects with it. The first reason stands. */
  end(failure: UpstreamFailure): void {
    this.#failure ??= failure;
    this.close();
  }

  /** Nothing more is wanted of the answer. */
  close(): void {
    sharedTimerOf(this.#clock).delete(this);
    this.#call?.end(this.#failure ?? new UpstreamFailure("upstream_error", "given up"));
  }

  /** The body was read to its end. */
  finished(): void {
    sharedTimerOf(this.#clock).delete(this);
  }

  #phaseMs(): number {
    const { connectMs, firstByteMs, idleMs } = this.#clocks;
    return { connection: connectMs, "first byte": firstByteMs, "next byte": idleMs }[this.#phase];
  }

  #explained(error: unknown): UpstreamFailure {
    if (this.#failure !== null) return this.#failure;
    if (error instanceof UpstreamFailure) return error;
    const what = this.#phase === "connection" ? "no connection" : "broke off";
    return new UpstreamFailure("upstream_error", `${what}: ${nameOf(error)}`, null, error);
  }
}

function timeout(detail: string): UpstreamFailure {
  return new UpstreamFailure("upstream_timeout", detail);
}

/** The system's name of what went wrong, such as ECONNREFUSED; the message could carry anything. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

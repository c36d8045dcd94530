/** One call to a provider under four clocks: whatever it waits for, it waits no longer than they allow. */
import type { Clock } from "../kernel/clock.ts";
import { MovingDeadline } from "./deadline.ts";
import { nameOf } from "./dial.ts";
import { UpstreamFailure } from "./provider.ts";

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

export interface ExchangeOptions {
  clock: Clock;
  clocks: ProviderClocks;
  /** Monotonic milliseconds. */
  startedAt: number;
}

interface Reader {
  read(): Promise<{ value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

export class Exchange {
  /** Given to the transport: aborted when the exchange ends before the answer does. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #clocks: ProviderClocks;
  readonly #endsAt: number;
  readonly #deadline: MovingDeadline;
  #phase: "first byte" | "next byte" = "first byte";
  #firstByteBy = Infinity;
  #response: Response | null = null;
  #reader: Reader | null = null;
  #failure: UpstreamFailure | null = null;
  #giveUp: ((failure: UpstreamFailure) => void) | null = null;

  constructor({ clock, clocks, startedAt }: ExchangeOptions) {
    this.#clock = clock;
    this.#clocks = clocks;
    this.#endsAt = startedAt + clocks.streamMs;
    this.signal = this.#controller.signal;
    this.#deadline = new MovingDeadline(clock, () => this.fail(this.#expiry()));
  }

  /** Why the exchange was ended from this side; null: it was not. */
  get failure(): UpstreamFailure | null {
    return this.#failure;
  }

  /** The promise's outcome, or the failure that ends the exchange before. One wait at a time. */
  until<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#failure) reject(this.#failure);
      else this.#giveUp = reject;
      promise.then(
        (value) => {
          this.#giveUp = null;
          resolve(value);
        },
        (error: unknown) => {
          this.#giveUp = null;
          reject(this.#failure ?? brokenOff(error));
        },
      );
    });
  }

  /** The request goes out: from now on the first byte is due. */
  sending(): void {
    this.#firstByteBy = this.#clock.monotonic() + this.#clocks.firstByteMs;
    this.#waitUntil(this.#firstByteBy);
  }

  /** The head of the answer is here; its body is due within the first-byte clock, or as long after as nobody asks for it. */
  answered(response: Response): void {
    this.#response = response;
    this.#waitUntil(Infinity);
  }

  /** The next bytes of the answer; null at its end. @throws UpstreamFailure */
  async read(): Promise<Uint8Array | null> {
    this.#reader ??= this.#response?.body?.getReader() ?? null;
    if (this.#reader === null) return null;
    const { value } = await this.#awaitBytes(this.#reader.read());
    return value ?? null;
  }

  /** All of the answer at once, which costs less: for one that says itself that it is small. @throws UpstreamFailure */
  async text(): Promise<string> {
    return this.#response === null ? "" : this.#awaitBytes(this.#response.text());
  }

  async #awaitBytes<T>(bytes: Promise<T>): Promise<T> {
    this.#waitUntil(this.#phase === "first byte" ? this.#firstByteBy : this.#clock.monotonic() + this.#clocks.idleMs);
    const result = await this.until(bytes);
    this.#phase = "next byte";
    this.#waitUntil(Infinity);
    return result;
  }

  /** Ends the exchange for this reason; what is being waited for rejects with it. The first reason stands. */
  fail(failure: UpstreamFailure): void {
    if (this.#failure !== null) return;
    this.#failure = failure;
    this.#giveUp?.(failure);
    this.close();
  }

  /** Nothing more is wanted of the answer. Cancelled before it is aborted, or Bun keeps its memory (oven-sh/bun#32659). */
  close(): void {
    this.#deadline[Symbol.dispose]();
    this.#reader?.cancel().catch(() => {});
    this.#controller.abort();
  }

  /** The body was read to its end: its connection may serve the next call. */
  finished(): void {
    this.#deadline[Symbol.dispose]();
  }

  #waitUntil(atMs: number): void {
    this.#deadline.move(Math.min(atMs, this.#endsAt));
  }

  #expiry(): UpstreamFailure {
    const { streamMs, idleMs, firstByteMs } = this.#clocks;
    if (this.#clock.monotonic() >= this.#endsAt) return timeout(`not done within ${streamMs} ms`);
    return timeout(`no ${this.#phase} within ${this.#phase === "first byte" ? firstByteMs : idleMs} ms`);
  }
}

function timeout(detail: string): UpstreamFailure {
  return new UpstreamFailure("upstream_timeout", detail);
}

function brokenOff(error: unknown): UpstreamFailure {
  return error instanceof UpstreamFailure
    ? error
    : new UpstreamFailure("upstream_error", `broke off: ${nameOf(error)}`, null, error);
}

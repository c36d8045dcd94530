/**
 * One call to a provider under four timeouts: connect, first byte, idle and total. It sends a request again on a new connection where a
 * kept one was closed before any part of a response, decompresses answers that a provider compresses although we did not ask for it, and
 * reads whole bodies within a bound.
 * The first reason that ends a call stays its failure, whatever else breaks after it. Errors of the system are named by their code, since
 * their message may contain anything.
 */
import { Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { type Clock, sharedTimerOf, type TimerListener } from "../../../kernel/clock.ts";
import { UpstreamFailure, OversizedAnswer } from "../provider.ts";
import { GatheredBytes } from "../../../http/body.ts";
import {
  StaleConnectionError,
  type Body,
  type BytesReceiver,
  type Post,
  type PostOptions,
  type Transport,
  type TransportCall,
} from "./transport.ts";
import type { ResponseHead } from "./answer-reader.ts";

/** Milliseconds. */
export interface ProviderClocks {
  connectMs: number;
  /** From sending a stream's request to the first byte of its body. A whole answer comes when it is complete: it has the total time. */
  firstByteMs: number;
  /** Between two pieces of the body, while the caller waits for the next one. */
  idleMs: number;
  /** From the start of the generation. */
  streamMs: number;
}

/** Kept only until the head arrives, since the callbacks may hold the whole request and a stream may be long. */
interface SendOptions extends PostOptions {
  /** Called when the request is sent; on a new connection just before. If it throws there, the request does not leave. */
  onSent?: (() => void) | undefined;
  onResent?: (() => void) | undefined;
}

interface UpstreamCallOptions {
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
  /** Monotonic milliseconds: the deadline of the current wait. */
  #dueBy = Infinity;
  #call: TransportCall | null = null;
  #body: Body | null = null;
  #receiver: BytesReceiver | null = null;
  #failure: UpstreamFailure | null = null;

  constructor({ clock, clocks, startedAt }: UpstreamCallOptions) {
    this.#clock = clock;
    this.#clocks = clocks;
    this.#endsAt = startedAt + clocks.streamMs;
    sharedTimerOf(clock).add(this);
  }

  /** Why we ended the call; null if we did not. */
  get failure(): UpstreamFailure | null {
    return this.#failure;
  }

  /**
   * Sends the request and waits for the head of its response. If a kept connection turns out to be closed before any part of a
   * response, the request is sent again on a new one and `onResent` is called.
   * @throws UpstreamFailure, and what `onSent` throws
   */
  async post(
    transport: Transport,
    url: URL,
    post: Post,
    { fresh = false, onSent, onResent }: SendOptions = {},
  ): Promise<ResponseHead> {
    for (let resent = false; ; resent = true) {
      let isLeaving = false;
      try {
        this.look(this.#clock.monotonic());
        if (this.#failure !== null) throw this.#failure;
        const call = transport.post(url, post, { fresh: fresh || resent });
        this.#call = call;
        if (call.connecting !== null) {
          this.#phase = "connection";
          this.#dueBy = this.#clock.monotonic() + this.#clocks.connectMs;
          await call.connecting;
          // After a freeze the process sees the connection before it sees that its deadlines have passed.
          this.look(this.#clock.monotonic());
          if (this.#failure !== null) throw this.#failure;
        }
        isLeaving = true;
        onSent?.();
        isLeaving = false;
        return this.#begun(call, await this.#headOf(call, post));
      } catch (error) {
        if (isLeaving) {
          this.close();
          throw error;
        }
        if (resent || !(error instanceof StaleConnectionError)) throw this.#explained(error);
      }
      onResent?.();
    }
  }

  #headOf(call: TransportCall, { accept }: Post): Promise<ResponseHead> {
    this.#phase = "first byte";
    this.#firstByteBy = accept === "text/event-stream" ? this.#clock.monotonic() + this.#clocks.firstByteMs : Infinity;
    this.#dueBy = this.#firstByteBy;
    return call.head();
  }

  #begun(call: TransportCall, head: ResponseHead): ResponseHead {
    const coding = head.headers["content-encoding"] ?? "identity";
    this.#body = coding === "identity" ? call : decompressed(call, coding);
    this.#dueBy = Infinity;
    return head;
  }

  /** The first bytes are due within the first-byte timeout, even if the caller asks for them later. */
  read(receiver: BytesReceiver): void {
    if (this.#failure !== null) return receiver.fail(this.#failure);
    if (this.#body === null) return receiver.take(null);
    this.#dueBy = this.#phase === "first byte" ? this.#firstByteBy : this.#clock.monotonic() + this.#clocks.idleMs;
    this.#receiver = receiver;
    this.#body.read(this);
  }

  look(nowMs: number): void {
    if (nowMs >= this.#endsAt) this.end(timeout(`not done within ${this.#clocks.streamMs} ms`));
    else if (nowMs >= this.#dueBy) this.end(timeout(`no ${this.#phase} within ${this.#phaseMs()} ms`));
  }

  take(bytes: Uint8Array | null): void {
    this.#phase = "next byte";
    this.#dueBy = Infinity;
    this.#receiver?.take(bytes);
  }

  /** Fails with an UpstreamFailure. */
  fail(reason: unknown): void {
    this.#receiver?.fail(this.#explained(reason));
  }

  /** Ends the call for this reason; pending operations reject with it. The first reason is kept. */
  end(failure: UpstreamFailure): void {
    this.#failure ??= failure;
    this.close();
  }

  /** The caller needs nothing more of the response. */
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

/** The system's name of the error, such as ECONNREFUSED; the message could contain anything. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

// Whole bodies, within a bound on their decoded bytes

/** @throws UpstreamFailure when the body is too large, late or incomplete */
export function readWhole(upstream: UpstreamCall, bytesMax: number): Promise<string> {
  return readUpTo(upstream, { bytesMax, cuts: false });
}

/** Reads the start of an error's body, which is enough to classify it. An incomplete body does not hide the status. */
export async function readBeginning(upstream: UpstreamCall, bytesMax: number): Promise<string> {
  try {
    return await readUpTo(upstream, { bytesMax, cuts: true });
  } catch (error) {
    if (error instanceof UpstreamFailure && error.code === "upstream_timeout") throw error;
    return "";
  }
}

interface ReadOptions {
  bytesMax: number;
  /** Whether a larger body is cut off, or refused. */
  cuts: boolean;
}

const decoder = new TextDecoder();

/** One promise for the whole body: one for each piece would cost more than reading it. */
function readUpTo(upstream: UpstreamCall, { bytesMax, cuts }: ReadOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const read = new GatheredBytes();
    const receiver: BytesReceiver = {
      take(bytes) {
        if (bytes === null) return resolve(decoder.decode(read.take()));
        read.add(bytes);
        if (read.length <= bytesMax) return upstream.read(receiver);
        if (cuts) return resolve(decoder.decode(read.take()));
        reject(new OversizedAnswer(`the answer is larger than ${bytesMax} bytes`));
      },
      fail: reject,
    };
    upstream.read(receiver);
  });
}

// Decompression

/**
 * `read` as a promise, for callers that read few pieces. Resolves with null at the end of the body; rejects with the reason why
 * it broke off.
 */
export function nextBytes(body: Body): Promise<Uint8Array | null> {
  return new Promise((resolve, reject) => body.read({ take: resolve, fail: reject }));
}

const decompressors: Record<string, () => Transform> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * Decompresses a body.
 * @param coding its `content-encoding`
 * @throws Error for an unknown coding
 */
function decompressed(body: Body, coding: string): Body {
  const unpacker = decompressors[coding.toLowerCase()]?.();
  if (unpacker === undefined) throw new Error("its content coding is not known");
  const packed = Readable.from(pieces(body));
  packed.on("error", (error) => unpacker.destroy(error));
  const iterator: AsyncIterator<Uint8Array> = packed.pipe(unpacker)[Symbol.asyncIterator]();
  return {
    read(receiver) {
      iterator.next().then(
        ({ done, value }) => receiver.take(done === true ? null : value),
        (reason: unknown) => receiver.fail(reason),
      );
    },
  };
}

async function* pieces(body: Body): AsyncGenerator<Uint8Array> {
  for (let bytes = await nextBytes(body); bytes !== null; bytes = await nextBytes(body)) yield bytes;
}

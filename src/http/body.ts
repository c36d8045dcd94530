/**
 * Reads the bodies of requests, and drains those that are refused.
 *
 * A body must keep up with the minimum rate; only the time that the server waits for its bytes counts. A declared length above the bound is
 * refused before any byte is read. Large bodies of all senders together are throttled: otherwise twenty clients on a fast network would
 * leave chats no cores and disk on a small machine.
 *
 * A refused body is read before the answer, within bounds. After an answer the server itself would keep reading, as fast as bytes arrive:
 * twenty refused clients that kept sending made Bun 1.4 read 700 MB/s (measured). If the answer closes the connection, Bun closes it at
 * once; the kernel then resets it while bytes still arrive, and many clients (Python's urllib, nginx) lose the answer.
 */
import { Buffer } from "node:buffer";
import { type Clock, DeadlineError, withDeadline, sleep, systemClock } from "../kernel/clock.ts";
import * as limits from "./limits.ts";

/** The errors of an API, in its own words. */
export interface BodyErrors {
  encoded(): Error;
  incomplete(): Error;
  /** The body was below `bodyBytesPerSecondMin` for longer than `bodyGraceMs`, or others needed its place. */
  tooSlow(): Error;
  tooLarge(bytesMax: number): Error;
}

interface Options {
  clock: Clock;
  bytesMax: number;
  withinMs: number;
  errors: BodyErrors;
  /** Receives the declared length, then the length so far. */
  count?: (bytes: number) => void;
  /** Waits until the next piece may be read. Absent: the body is small. */
  throttle?: (piece: Uint8Array) => Promise<void>;
  /** Measures whether the body keeps up, and can end it. */
  pace?: BodyPace;
}

/**
 * The body as it arrives, in pieces of at least one byte. A declared length above the bound is refused before any byte is read.
 * @throws one of `errors`; what `count` throws
 */
export async function* bodyPieces(
  request: Request,
  { clock, bytesMax, withinMs, errors, count, throttle, pace = new BodyPace(clock) }: Options,
): AsyncGenerator<Uint8Array> {
  if (isEncoded(request)) throw errors.encoded();
  const declared = declaredBytes(request) ?? 0;
  if (declared > bytesMax) throw errors.tooLarge(bytesMax);
  count?.(declared);
  if (request.body === null) return;
  const reader = new BodyReader(request.body);
  const endsAt = clock.monotonic() + withinMs;
  let ended = false;
  try {
    for (let bytes = 0; ;) {
      const piece = await pace.wait(reader.next(), endsAt - clock.monotonic()).catch((error: unknown) => {
        throw error instanceof SlowBodyError ? errors.tooSlow() : errors.incomplete();
      });
      ended = piece === null;
      if (piece === null) return;
      bytes += piece.length;
      if (bytes > bytesMax) {
        ended = true;
        await drainRequest(request, clock, reader);
        throw errors.tooLarge(bytesMax);
      }
      count?.(bytes);
      yield piece;
      await throttle?.(piece);
    }
  } finally {
    if (!ended) reader.discard();
  }
}

/** The body was below the minimum rate for longer than its grace, or others needed its place. */
class SlowBodyError extends Error {
  override name = "SlowBodyError";
}

export class BodyPace {
  readonly #clock: Clock;
  /** How far the body was behind before the current wait. Bytes make up for it, but early bytes earn no time in advance. */
  #behindMs = 0;
  #waitsSince: number | null = null;
  #refuse: ((error: SlowBodyError) => void) | null = null;
  #isEnded = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How much later its bytes have arrived than at the minimum rate. */
  get behindMs(): number {
    return this.#behindMs + (this.#waitsSince === null ? 0 : this.#clock.monotonic() - this.#waitsSince);
  }

  /** Ends the body: its current or next wait rejects. */
  end(): void {
    this.#isEnded = true;
    this.#refuse?.(new SlowBodyError());
  }

  /** @throws SlowBodyError; DeadlineError after `withinMs`; what `piece` rejects with */
  async wait<Piece extends Uint8Array | null>(piece: Promise<Piece>, withinMs: number): Promise<Piece> {
    if (this.#isEnded) throw new SlowBodyError();
    const graceMs = Math.max(0, limits.bodyGraceMs - this.#behindMs);
    const late = graceMs < withinMs ? new SlowBodyError() : new DeadlineError("The body did not arrive in time");
    this.#waitsSince = this.#clock.monotonic();
    const { promise, resolve, reject } = Promise.withResolvers<Piece>();
    const cancel = this.#clock.after(Math.min(graceMs, withinMs), () => reject(late));
    this.#refuse = reject;
    piece.then(resolve, reject);
    try {
      const arrived = await promise;
      const earnedMs = ((arrived?.length ?? 0) / limits.bodyBytesPerSecondMin) * 1_000;
      this.#behindMs = Math.max(0, this.behindMs - earnedMs);
      return arrived;
    } finally {
      cancel();
      this.#refuse = null;
      this.#waitsSince = null;
    }
  }
}

/** The part of a stream's reader that is used here; the runtimes' own types of it differ. */
interface ChunkReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** Reads a body of unknown length chunk by chunk, and counts its bytes. */
export class BodyReader {
  readonly #reader: ChunkReader;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  /** The next bytes, at least one; null at the end. Rejects if the client disconnects. */
  async next(): Promise<Uint8Array | null> {
    for (;;) {
      const { value } = await this.#reader.read();
      if (value === undefined) return null;
      if (value.length > 0) return value;
    }
  }

  /**
   * All bytes, or null as soon as there are more than `bytesMax`. Rejects if the client disconnects.
   * @param count receives the length of each piece; an error that it throws ends the reading
   */
  async readUpTo(bytesMax: number, count?: (bytes: number) => void): Promise<Uint8Array | null> {
    const gathered = new GatheredBytes();
    for (;;) {
      const { value } = await this.#reader.read();
      if (value === undefined) return gathered.take();
      if (gathered.length + value.length > bytesMax) return null;
      count?.(value.length);
      gathered.add(value);
    }
  }

  /** Makes the server drop the bytes that still arrive. */
  discard(): void {
    this.#reader.cancel().catch(() => {});
  }
}

/** The whole body of `bodyPieces`, joined as it arrives. @throws like `bodyPieces` */
export async function wholeBody(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const gathered = new GatheredBytes();
  for await (const piece of pieces) gathered.add(piece);
  return gathered.take();
}

/**
 * Call before refusing a request whose body may be unread; does nothing once it was read. Takes at most 5 s; never rejects.
 * @param reader the reader that holds the body, if there is one
 */
export async function drainRequest(request: Request, clock: Clock, reader: BodyReader | null = null): Promise<void> {
  if (request.body === null || (reader === null && (request.bodyUsed || request.body.locked))) return;
  const rest = reader ?? new BodyReader(request.body);
  const closes = closesAfterwards(request);
  if (closes || mayBeLarge(request)) {
    const skipping = skip(rest, clock, closes ? limits.refusedBodyMsMax : limits.refusedBodyIdleMs);
    await withDeadline(clock, limits.refusedBodyMsMax, "The rest of the body", skipping).catch(() => {});
  }
  rest.discard();
}

/** Shorter waits are skipped, since timers are no finer and small bodies should not wait. */
const dueMs = 10;

/** Limits how fast bytes of all senders together are read. */
export class ByteThrottle {
  readonly #clock: Clock;
  readonly #bytesPerSecond: number;
  /** When all bytes so far would have arrived at this rate. */
  #dueAt = 0;

  constructor(clock: Clock, bytesPerSecond: number) {
    this.#clock = clock;
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Call after each piece. Resolves when the next one may be read; waiting senders alternate piece by piece. */
  async read(bytes: number): Promise<void> {
    const now = this.#clock.monotonic();
    this.#dueAt = Math.max(now, this.#dueAt) + (bytes / this.#bytesPerSecond) * 1_000;
    const waitMs = this.#dueAt - now;
    if (waitMs > dueMs) await sleep(this.#clock, waitMs);
  }
}

/**
 * Throttles all documents, attachments and refused bodies of this process. It uses the system clock, because it protects the machine.
 */
export const largeBodyThrottle = new ByteThrottle(systemClock, limits.largeBodiesBytesPerSecond);

/** @returns the Content-Length, or null if there is none */
export function declaredBytes(request: Request): number | null {
  const header = request.headers.get("content-length");
  return header !== null && /^\d+$/.test(header) ? Number(header) : null;
}

/** Whether a body is compressed or otherwise encoded; no API of the service accepts that. */
export function isEncoded(request: Request): boolean {
  const coding = request.headers.get("content-encoding");
  return coding !== null && coding !== "" && coding.toLowerCase() !== "identity";
}

function closesAfterwards(request: Request): boolean {
  const connection = request.headers.get("connection") ?? "";
  return connection
    .toLowerCase()
    .split(",")
    .some((option) => option.trim() === "close");
}

function mayBeLarge(request: Request): boolean {
  return request.headers.has("transfer-encoding") || (declaredBytes(request) ?? 0) > limits.refusedBodySmallBytes;
}

/** The server bounds the whole body. A sender that is silent for a second probably waits for its answer. */
async function skip(rest: BodyReader, clock: Clock, idleMs: number): Promise<void> {
  for (;;) {
    const piece = await withDeadline(clock, idleMs, "The rest of the body", rest.next());
    if (piece === null) return;
    await largeBodyThrottle.read(piece.length);
  }
}

// Joins the pieces of a body as they arrive. A client or a provider may send single bytes, and a list of such pieces takes more than a
// hundred times their bytes; here each byte is copied about twice and takes about two.

const nothing = new Uint8Array(0);

export class GatheredBytes {
  /** The first piece as it came, or all pieces with room for more. The room doubles, so that each byte is copied about twice. */
  #bytes: Uint8Array = nothing;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** @param piece must not change afterwards */
  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (this.#length === 0) this.#bytes = piece;
    else {
      if (length > this.#bytes.length) this.#grow(length);
      this.#bytes.set(piece, this.#length);
    }
    this.#length = length;
  }

  /** Returns all bytes and releases them. */
  take(): Uint8Array {
    const bytes = this.#bytes.length === this.#length ? this.#bytes : this.#bytes.subarray(0, this.#length);
    this.#bytes = nothing;
    this.#length = 0;
    return bytes;
  }

  #grow(length: number): void {
    const roomier = Buffer.allocUnsafe(Math.max(length, 2 * this.#length));
    roomier.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = roomier;
  }
}

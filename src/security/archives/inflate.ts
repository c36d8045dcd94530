/** Decompresses piece by piece, so that a budget can be checked in between. It yields everything before a fault, then the fault. */
import { createGunzip, createInflateRaw } from "node:zlib";
import { ByteReader, type Bytes, UnreadableError } from "./byte-reader.ts";
import { errorCode } from "../../kernel/error-code.ts";

/** @throws UnreadableError if the data is damaged or truncated */
export async function* gunzip(pieces: AsyncIterable<Bytes>): AsyncGenerator<Bytes> {
  yield* inflate(new ByteReader(pieces), createGunzip());
}

/**
 * Inflates one stream that marks its own end; the reader is then positioned after it.
 * @throws UnreadableError if the data is damaged or truncated
 */
export async function* inflateRaw(reader: ByteReader): AsyncGenerator<Bytes> {
  yield* inflate(reader, createInflateRaw());
}

type Engine = ReturnType<typeof createGunzip>;

/** The engine's output for its last input. */
class Flow {
  readonly #engine: Engine;
  #out: Bytes[] = [];
  #ended = false;
  #fault: Error | null = null;
  #wake: () => void = () => {};

  constructor(engine: Engine) {
    this.#engine = engine;
    engine.on("data", (bytes: Bytes) => this.#out.push(bytes));
    engine.on("end", () => this.#finish(null));
    engine.on("error", (error) => this.#finish(error));
  }

  /** Resolves when the engine has consumed as much of the piece as it needs, or at a fault. */
  feed(piece: Bytes): Promise<void> {
    return this.#waiting((wake) => this.#engine.write(piece, wake));
  }

  finish(): Promise<void> {
    return this.#waiting(() => this.#engine.end());
  }

  /** Resolves when the engine has returned everything, or at a fault. */
  end(): Promise<void> {
    return this.#waiting(() => {});
  }

  taken(): Bytes[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }

  /** @throws UnreadableError */
  throwFault(): void {
    if (this.#fault !== null) throw new UnreadableError(faultText(this.#fault));
  }

  async #waiting(begin: (wake: () => void) => void): Promise<void> {
    if (this.#ended) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      begin(() => resolve());
    });
  }

  #finish(fault: Error | null): void {
    this.#ended = true;
    this.#fault ??= fault;
    this.#wake();
  }
}

/** At deflate's highest ratio, a thousand to one, a piece becomes 16 MiB. The budget is checked before the next one. */
const pieceBytesMax = 16 * 1024;

async function* inflate(reader: ByteReader, engine: Engine): AsyncGenerator<Bytes> {
  const flow = new Flow(engine);
  try {
    for (;;) {
      const piece = await reader.next(pieceBytesMax);
      const before = engine.bytesWritten;
      await (piece === null ? flow.finish() : flow.feed(piece));
      const left = piece?.subarray(engine.bytesWritten - before) ?? null;
      const ended = left === null || left.length > 0;
      if (ended) await flow.end();
      yield* flow.taken();
      flow.throwFault();
      if (left !== null && left.length > 0) reader.putBack(left);
      if (ended) return;
    }
  } finally {
    engine.destroy();
  }
}

function faultText(error: Error): string {
  return errorCode(error) === "Z_BUF_ERROR" ? "ends in the middle: it is truncated" : "holds damaged compressed data";
}

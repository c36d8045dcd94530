/**
 * Reads a stream of pieces of any size by length, within bounds. It never holds more than what was asked for plus one piece. A source that
 * ends early is an `UnreadableError`, and a read after a fault fails with the same fault.
 */

/** Why a file, an archive or an entry cannot be read further. The message follows its name: "all.zip ends before …". */
export class UnreadableError extends Error {
  override name = "UnreadableError";
}

/** The archive exceeds its budget and is not read further. */
export class BudgetError extends UnreadableError {
  override name = "BudgetError";
}

export type Bytes = Uint8Array<ArrayBufferLike>;

export class ByteReader {
  readonly #pieces: AsyncIterator<Bytes>;
  #rest: Bytes = new Uint8Array(0);
  /** A read after a fault fails with the same fault. */
  #fault: { error: unknown } | null = null;

  constructor(pieces: AsyncIterable<Bytes>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** The next 1 to `lengthMax` bytes; null at the end. */
  async next(lengthMax: number): Promise<Bytes | null> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#pull();
      if (done) return null;
      this.#rest = value;
    }
    const piece = this.#rest.subarray(0, lengthMax);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }

  /** Exactly this number of bytes, or fewer at the end. */
  async atMost(length: number): Promise<Bytes> {
    const piece = await this.next(length);
    if (piece === null || piece.length === length) return piece ?? new Uint8Array(0);
    const whole = new Uint8Array(length);
    whole.set(piece);
    let filled = piece.length;
    while (filled < length) {
      const more = await this.next(length - filled);
      if (more === null) return whole.subarray(0, filled);
      whole.set(more, filled);
      filled += more.length;
    }
    return whole;
  }

  /** @throws UnreadableError if the source ends early */
  async exactly(length: number): Promise<Bytes> {
    const bytes = await this.atMost(length);
    if (bytes.length < length) throw truncated();
    return bytes;
  }

  /** Puts back bytes that were just read, to be read again. */
  putBack(bytes: Bytes): void {
    const rest = new Uint8Array(bytes.length + this.#rest.length);
    rest.set(bytes);
    rest.set(this.#rest, bytes.length);
    this.#rest = rest;
  }

  /**
   * The next `length` bytes, piece by piece; `skip` discards what the caller leaves.
   * @throws UnreadableError if the source ends early
   */
  async *section(section: Section): AsyncGenerator<Bytes> {
    while (section.left > 0) {
      const piece = await this.next(Math.min(section.left, 64 * 1024));
      if (piece === null) throw truncated();
      section.left -= piece.length;
      yield piece;
    }
  }

  /** @throws UnreadableError if the source ends early */
  async skip(section: Section): Promise<void> {
    for await (const _ of this.section(section));
  }

  async #pull(): Promise<IteratorResult<Bytes>> {
    if (this.#fault !== null) throw this.#fault.error;
    try {
      return await this.#pieces.next();
    } catch (error) {
      this.#fault = { error };
      throw error;
    }
  }

  /** Closes the source early. */
  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}

/** A part of the source, shared by its reader and by the code that skips the unread rest. */
export interface Section {
  left: number;
}

function truncated(): UnreadableError {
  return new UnreadableError("ends in the middle: it is truncated");
}

/** Chunks of bytes on their way to one reader: an iterator made by hand, for a generator would put more steps between each and its reader. */

type Chunk = IteratorResult<Uint8Array, undefined>;

const end: Chunk = { done: true, value: undefined };

/** Read by one reader, which reads one chunk at a time. */
export class ChunkReader implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #left: () => void;
  #waiting: ((chunk: Chunk) => void) | null = null;
  /** What came while the reader was busy. */
  readonly #queue: Uint8Array[] = [];
  #ended = false;

  /** @param left called when the reader goes before the end */
  constructor(left: () => void) {
    this.#left = left;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  push(chunk: Uint8Array): void {
    if (this.#ended) return;
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting === null) this.#queue.push(chunk);
    else waiting({ done: false, value: chunk });
  }

  /** No more will come. What came is still read. */
  end(): void {
    this.#ended = true;
    this.#waiting?.(end);
    this.#waiting = null;
  }

  /** Drops what came and was not read. */
  forget(): void {
    this.#queue.length = 0;
  }

  next(): Promise<Chunk> {
    const value = this.#queue.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#ended) return Promise.resolve(end);
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  return(): Promise<Chunk> {
    this.forget();
    this.end();
    this.#left();
    return Promise.resolve(end);
  }
}

/** What is used of a stream's reader: the runtimes' own types of it differ. */
interface ChunkReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** Reads a body of unknown length chunk by chunk, and counts. */
export class BodyReader {
  readonly #reader: ChunkReader;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  /** The next bytes, at least one; null at the end. Rejects when the client breaks off. */
  async next(): Promise<Uint8Array | null> {
    for (;;) {
      const { value } = await this.#reader.read();
      if (value === undefined) return null;
      if (value.length > 0) return value;
    }
  }

  /**
   * All bytes, or null as soon as there are more than `bytesMax`. Rejects when the client breaks off.
   * @param take told of each piece before it is kept; what it throws ends the reading
   */
  async readUpTo(bytesMax: number, take?: (bytes: number) => void): Promise<Uint8Array | null> {
    const pieces = await this.piecesUpTo(bytesMax, take);
    return pieces && joined(pieces);
  }

  /** The same as it came, for who hands it on: to join many megabytes holds the thread for milliseconds. */
  async piecesUpTo(bytesMax: number, take?: (bytes: number) => void): Promise<Uint8Array[] | null> {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for (;;) {
      const { value } = await this.#reader.read();
      if (value === undefined) return pieces;
      bytes += value.length;
      if (bytes > bytesMax) return null;
      take?.(value.length);
      pieces.push(value);
    }
  }

  /** Lets the server drop what else arrives. */
  discard(): void {
    this.#reader.cancel().catch(() => {});
  }
}

export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return only && pieces.length === 1 ? only : Buffer.concat(pieces);
}

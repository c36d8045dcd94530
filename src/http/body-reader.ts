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
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for (;;) {
      const { value } = await this.#reader.read();
      if (value === undefined) return joined(pieces);
      bytes += value.length;
      if (bytes > bytesMax) return null;
      count?.(value.length);
      pieces.push(value);
    }
  }

  /** Lets the server drop the bytes that still arrive. */
  discard(): void {
    this.#reader.cancel().catch(() => {});
  }
}

export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return only && pieces.length === 1 ? only : Buffer.concat(pieces);
}

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

  /** All bytes, or null as soon as there are more than `bytesMax`. Rejects when the client breaks off. */
  async readUpTo(bytesMax: number): Promise<Uint8Array | null> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for (;;) {
      const { value } = await this.#reader.read();
      if (value === undefined) return joined(chunks, bytes);
      bytes += value.length;
      if (bytes > bytesMax) return null;
      chunks.push(value);
    }
  }

  /** Reads on without keeping anything, until the end or `bytesMax`. */
  async skip(bytesMax: number): Promise<void> {
    for (let bytes = 0; bytes <= bytesMax;) {
      const { value } = await this.#reader.read();
      if (value === undefined) return;
      bytes += value.length;
    }
  }

  /** Lets the server drop what else arrives. */
  discard(): void {
    this.#reader.cancel().catch(() => {});
  }
}

function joined(chunks: Uint8Array[], bytes: number): Uint8Array {
  const [only] = chunks;
  if (only && chunks.length === 1) return only;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

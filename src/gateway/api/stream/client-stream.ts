/** The body of a streamed answer, as the server that sends it takes it best. */

/** What is told: where the texts come from. */
export interface TextSource {
  /** Before anything else, once. */
  begin(sink: TextSink): void;
  /** The client has room for a text. */
  pull(): void;
  /** The client is gone. */
  cancel(): void;
}

/** Where the texts go. After `end` or `fail` nothing is. */
export interface TextSink {
  /** Goes out at once. @returns whether there is room for another one already; otherwise `pull` tells when */
  send(text: string): boolean;
  /** The last one. */
  end(text: string): void;
  /** Breaks the connection off, so that nobody takes what was sent for the whole. */
  fail(reason: unknown): void;
}

export type CreateStream = (source: TextSource) => ReadableStream<Uint8Array>;

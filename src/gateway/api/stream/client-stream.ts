/** The body of a streamed answer. Each server has its fastest form. */

/** The producer of the texts. */
export interface TextSource {
  /** Called once, first. */
  begin(sink: TextSink): void;
  /** The client has room for a text. */
  pull(): void;
  /** The client has left. */
  cancel(): void;
}

/** The consumer of the texts. Gets no calls after `end` or `fail`. */
export interface TextSink {
  /** Sends at once. @returns whether there is room for another text; otherwise `pull` is called when there is */
  send(text: string): boolean;
  /** Sends the last text. */
  end(text: string): void;
  /** Breaks the connection off, so that the client notices that the answer is incomplete. */
  fail(reason: unknown): void;
}

export type CreateStream = (source: TextSource) => ReadableStream<Uint8Array>;

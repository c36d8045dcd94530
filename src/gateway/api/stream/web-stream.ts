/** A stream by the web standard: for callers with a reader, and for servers of runtimes other than Bun. */
import type { TextSink, TextSource } from "./client-stream.ts";

const encoder = new TextEncoder();

export function webStream(source: TextSource): ReadableStream<Uint8Array> {
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => source.begin(new WebSink(controller));
  return new ReadableStream({ start, pull: () => source.pull(), cancel: () => source.cancel() }, { highWaterMark: 0 });
}

class WebSink implements TextSink {
  readonly #controller: ReadableStreamDefaultController<Uint8Array>;

  constructor(controller: ReadableStreamDefaultController<Uint8Array>) {
    this.#controller = controller;
  }

  send(text: string): boolean {
    this.#controller.enqueue(encoder.encode(text));
    return false;
  }

  end(text: string): void {
    this.send(text);
    this.#controller.close();
  }

  fail(reason: unknown): void {
    this.#controller.error(reason);
  }
}

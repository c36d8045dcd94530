/**
 * A stream that writes to the client's socket itself: Bun's server takes text, and makes no promise and no bytes of it on the way, which
 * is a fifteenth of the gateway's time where thousands of streams are open. Only for an answer that Bun's server sends: who reads by
 * a reader is not slowed down by it. See https://bun.com/docs/runtime/streams#direct-readablestream.
 */
import type { TextSink, TextSource } from "./client-stream.ts";

export function bunStream(source: TextSource): ReadableStream<Uint8Array> {
  const over = Promise.withResolvers<void>();
  return new ReadableStream({
    type: "direct",
    pull(controller: ReadableStreamDirectController) {
      source.begin(new BunSink(controller, source, over.resolve));
      source.pull();
      return over.promise;
    },
    cancel() {
      source.cancel();
      over.resolve();
    },
  });
}

class BunSink implements TextSink {
  readonly #controller: ReadableStreamDirectController;
  readonly #source: TextSource;
  readonly #over: () => void;

  constructor(controller: ReadableStreamDirectController, source: TextSource, over: () => void) {
    this.#controller = controller;
    this.#source = source;
    this.#over = over;
  }

  send(text: string): boolean {
    const written = this.#controller.write(text);
    this.#controller.flush();
    if (typeof written === "number") return true;
    // The client's socket is full. A write that fails is that of a client that is gone, which the server tells by itself.
    written.then(
      () => this.#source.pull(),
      () => {},
    );
    return false;
  }

  end(text: string): void {
    this.#controller.write(text);
    this.#controller.end();
    this.#over();
  }

  fail(reason: unknown): void {
    this.#controller.close(reason instanceof Error ? reason : new Error("the stream failed", { cause: reason }));
    this.#over();
  }
}

/**
 * A stream that writes to the client's socket itself: Bun's server takes text, and makes no promise and no bytes of it on the way, which
 * is a fifteenth of the gateway's time where thousands of streams are open. Only for an answer that Bun's server sends: who reads by
 * a reader is not slowed down by it. What it promises of room and of the end: https://bun.sh/reference/globals/bun/DirectUnderlyingSource.
 */
import type { TextSink, TextSource } from "./client-stream.ts";

export function bunStream(source: TextSource): ReadableStream<Uint8Array> {
  const sink = new BunSink(source);
  // At once: a server whose client has left in the meantime never asks for the body.
  source.begin(sink);
  return new ReadableStream({
    type: "direct",
    pull: (controller: ReadableStreamDirectController) => sink.open(controller),
    cancel: () => sink.cancel(),
  });
}

class BunSink implements TextSink {
  readonly #source: TextSource;
  readonly #over = Promise.withResolvers<void>();
  #controller: ReadableStreamDirectController | null = null;
  /** What came before the server asked for the body. */
  #ending: (() => void) | null = null;

  constructor(source: TextSource) {
    this.#source = source;
  }

  /** @returns resolves when the stream is over */
  open(controller: ReadableStreamDirectController): Promise<void> {
    this.#controller = controller;
    if (this.#ending === null) this.#source.pull();
    else this.#ending();
    return this.#over.promise;
  }

  cancel(): void {
    this.#source.cancel();
    this.#over.resolve();
  }

  send(text: string): boolean {
    const written = this.#controller?.write(text);
    this.#controller?.flush();
    if (typeof written === "number") return true;
    // The client's socket is full. A write that fails is that of a client that is gone, which the server tells by itself.
    written?.then(
      () => this.#source.pull(),
      () => {},
    );
    return false;
  }

  end(text: string): void {
    this.#endBy((controller) => {
      controller.write(text);
      controller.end();
    });
  }

  fail(reason: unknown): void {
    const error = reason instanceof Error ? reason : new Error("the stream failed", { cause: reason });
    this.#endBy((controller) => controller.close(error));
  }

  #endBy(act: (controller: ReadableStreamDirectController) => void): void {
    const controller = this.#controller;
    if (controller === null) {
      this.#ending = () => this.#endBy(act);
      return;
    }
    act(controller);
    this.#over.resolve();
  }
}

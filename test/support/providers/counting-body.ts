/** A transport with one answer of given pieces, which counts its reads. */
import type { ResponseHead } from "../../../src/gateway/providers/transport/answer-reader.ts";
import type { BytesReceiver, Transport, TransportCall } from "../../../src/gateway/providers/transport/transport.ts";

export class CountingBody implements TransportCall {
  readonly connecting = null;
  asked = 0;
  /** Why the caller ended it; null if it did not. */
  ended: Error | null = null;
  readonly #pieces: string[];
  /** After its pieces the body neither goes on nor ends. */
  readonly #silent: boolean;
  #waiting: BytesReceiver | null = null;

  constructor(pieces: string[], { silent = false } = {}) {
    this.#pieces = pieces;
    this.#silent = silent;
  }

  get transport(): Transport {
    return { post: () => this };
  }

  async head(): Promise<ResponseHead> {
    return { status: 200, headers: {} };
  }

  read(taker: BytesReceiver): void {
    const piece = this.#pieces[this.asked++];
    if (piece === undefined && this.#silent) this.#waiting = taker;
    else taker.take(piece === undefined ? null : new TextEncoder().encode(piece));
  }

  /** Gives a silent body another piece, if somebody waits for it. */
  give(piece: string): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.take(new TextEncoder().encode(piece));
  }

  /** Ends a silent body. */
  finish(): void {
    this.#waiting?.take(null);
  }

  end(reason: Error): void {
    this.ended = reason;
  }
}

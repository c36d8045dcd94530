/** A transport with one answer of given pieces, which counts its reads. */
import type {
  BytesReceiver,
  ResponseHead,
  Transport,
  TransportCall,
} from "../../../src/gateway/providers/transport/transport.ts";

export class CountingBody implements TransportCall {
  readonly connecting = null;
  asked = 0;
  /** Why the caller ended it; null if it did not. */
  ended: Error | null = null;
  readonly #pieces: string[];

  constructor(pieces: string[]) {
    this.#pieces = pieces;
  }

  get transport(): Transport {
    return { post: () => this };
  }

  async head(): Promise<ResponseHead> {
    return { status: 200, headers: {} };
  }

  read(taker: BytesReceiver): void {
    const piece = this.#pieces[this.asked++];
    taker.take(piece === undefined ? null : new TextEncoder().encode(piece));
  }

  end(reason: Error): void {
    this.ended = reason;
  }
}

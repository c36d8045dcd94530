/** One request on a connection, and its answer: read as it comes in, kept until somebody asks, and never far ahead of that. */
import { Buffer } from "node:buffer";
import { upstreamReadAheadBytesMax } from "../../../limits.ts";
import type { BytesReceiver, ResponseHead, TransportCall } from "../transport.ts";
import type { AnswerParts } from "./answer-reader.ts";

/** What carries the call, as far as the call moves it. */
export interface Carrier {
  pause(): void;
  resume(): void;
  /** The answer is over. */
  release(keeps: boolean): void;
  close(): void;
}

export class HttpCall implements TransportCall, AnswerParts {
  readonly #carrier: Carrier;
  #connecting: PromiseWithResolvers<void> | null;
  #answering: PromiseWithResolvers<ResponseHead> | null = null;
  #taker: BytesReceiver | null = null;
  /** Come before somebody asked for it. */
  #head: ResponseHead | null = null;
  /** What has come and was not asked for yet. */
  #ahead: Uint8Array[] = [];
  #aheadBytes = 0;
  #paused = false;
  #over = false;
  #failure: Error | null = null;

  constructor(carrier: Carrier, connected: boolean) {
    this.#carrier = carrier;
    this.#connecting = connected ? null : Promise.withResolvers();
  }

  get connecting(): Promise<void> | null {
    return this.#connecting?.promise ?? null;
  }

  head(): Promise<ResponseHead> {
    if (this.#head !== null) return Promise.resolve(this.#head);
    if (this.#failure !== null) return Promise.reject(this.#failure);
    this.#answering = Promise.withResolvers();
    return this.#answering.promise;
  }

  read(taker: BytesReceiver): void {
    if (this.#ahead.length > 0) taker.take(this.#takeAhead());
    else if (this.#failure !== null) taker.fail(this.#failure);
    else if (this.#over) taker.take(null);
    else this.#taker = taker;
  }

  end(reason: Error): void {
    if (this.#over) return;
    this.#ahead = [];
    this.fail(reason);
    this.#carrier.close();
  }

  connected(): void {
    this.#connecting?.resolve();
    this.#connecting = null;
  }

  /** Told and forgotten: a stream may stay open for long. */
  begun(head: ResponseHead): void {
    if (this.#answering === null) this.#head = head;
    this.#answering?.resolve(head);
    this.#answering = null;
  }

  piece(bytes: Uint8Array): void {
    const taker = this.#takeTaker();
    if (taker !== null) return taker.take(bytes);
    this.#ahead.push(bytes);
    this.#aheadBytes += bytes.length;
    if (this.#aheadBytes > upstreamReadAheadBytesMax) this.#pause(true);
  }

  ended(keeps: boolean): void {
    this.#over = true;
    this.#pause(false);
    this.#carrier.release(keeps);
    this.#takeTaker()?.take(null);
  }

  /** The connection is gone. What had come before is still to be read. */
  fail(reason: Error): void {
    if (this.#over || this.#failure !== null) return;
    this.#failure = reason;
    this.#connecting?.reject(reason);
    this.#answering?.reject(reason);
    this.#takeTaker()?.fail(reason);
  }

  #takeTaker(): BytesReceiver | null {
    const taker = this.#taker;
    this.#taker = null;
    return taker;
  }

  #takeAhead(): Uint8Array {
    const [first, ...others] = this.#ahead;
    const bytes = first !== undefined && others.length === 0 ? first : Buffer.concat(this.#ahead);
    this.#ahead = [];
    this.#aheadBytes = 0;
    this.#pause(false);
    return bytes;
  }

  #pause(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    if (paused) this.#carrier.pause();
    else this.#carrier.resume();
  }
}

/** One request on a connection and its response: kept until the caller reads it, with a bounded read-ahead. */
import { upstreamReadAheadBytesMax } from "../../../limits.ts";
import { GatheredBytes } from "../gathered-bytes.ts";
import type { BytesReceiver, ResponseHead, TransportCall } from "../transport.ts";
import type { AnswerParts } from "./answer-reader.ts";

/** The operations of a connection that a call uses. */
export interface Carrier {
  pause(): void;
  resume(): void;
  /** The response has ended. */
  release(keeps: boolean): void;
  close(): void;
}

export class HttpCall implements TransportCall, AnswerParts {
  readonly #carrier: Carrier;
  #connecting: PromiseWithResolvers<void> | null;
  #answering: PromiseWithResolvers<ResponseHead> | null = null;
  #receiver: BytesReceiver | null = null;
  /** Arrived before the caller asked for it. */
  #head: ResponseHead | null = null;
  /** What arrived before the caller asked for it. */
  readonly #ahead = new GatheredBytes();
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

  read(receiver: BytesReceiver): void {
    if (this.#ahead.length > 0) receiver.take(this.#takeAhead());
    else if (this.#failure !== null) receiver.fail(this.#failure);
    else if (this.#over) receiver.take(null);
    else this.#receiver = receiver;
  }

  end(reason: Error): void {
    if (this.#over) return;
    this.#ahead.take();
    this.fail(reason);
    this.#carrier.close();
  }

  connected(): void {
    this.#connecting?.resolve();
    this.#connecting = null;
  }

  /** Delivers the head and drops it: a stream may stay open for long. */
  begun(head: ResponseHead): void {
    if (this.#answering === null) this.#head = head;
    this.#answering?.resolve(head);
    this.#answering = null;
  }

  piece(bytes: Uint8Array): void {
    const receiver = this.#takeReceiver();
    if (receiver !== null) return receiver.take(bytes);
    this.#ahead.add(bytes);
    if (this.#ahead.length > upstreamReadAheadBytesMax) this.#pause(true);
  }

  ended(keeps: boolean): void {
    this.#over = true;
    this.#pause(false);
    this.#carrier.release(keeps);
    this.#takeReceiver()?.take(null);
  }

  /** The connection is gone. Pieces that arrived before can still be read. */
  fail(reason: Error): void {
    if (this.#over || this.#failure !== null) return;
    this.#failure = reason;
    this.#connecting?.reject(reason);
    this.#answering?.reject(reason);
    this.#takeReceiver()?.fail(reason);
  }

  #takeReceiver(): BytesReceiver | null {
    const receiver = this.#receiver;
    this.#receiver = null;
    return receiver;
  }

  #takeAhead(): Uint8Array {
    const bytes = this.#ahead.take();
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

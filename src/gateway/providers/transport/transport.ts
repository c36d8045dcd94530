/**
 * How bytes reach a provider: over the network, or within the process for the sandbox. A transport has no deadlines and no retries;
 * upstream-call.ts has them. Bodies use callbacks because a promise for each piece would cost more than its other handling.
 */
import type { ResponseHead } from "./answer-reader.ts";

/** A request with a JSON body. */
export interface Post {
  /** The header `accept`; absent: a JSON document. */
  accept?: "application/json" | "text/event-stream";
  /** The headers of this request, in addition to those that every request has. */
  headers: Record<string, string>;
  body: string | Uint8Array;
}

export interface PostOptions {
  /** Use a new connection. */
  fresh?: boolean;
}

/** Receives the next bytes of a body: exactly one of its methods is called, once. */
export interface BytesReceiver {
  /** null at the end of the body. */
  take(bytes: Uint8Array | null): void;
  /** The body broke off. */
  fail(reason: unknown): void;
}

/** A body as it arrives. It uses callbacks because a promise for each piece would cost more than its other handling. */
export interface Body {
  /** Requests the next bytes; calls back at once if they have arrived. Allows one receiver at a time. */
  read(receiver: BytesReceiver): void;
}

/** One request and its response. It has no deadline: the caller ends it. */
export interface TransportCall extends Body {
  /** Resolves just before the request is sent; null if it has been. @throws why no connection could be opened */
  readonly connecting: Promise<void> | null;
  /** @throws why the response broke off, for example StaleConnectionError */
  head(): Promise<ResponseHead>;
  /** Ends the call from our side: pending operations reject with `reason`. Does nothing after the end of the body. */
  end(reason: Error): void;
}

export interface Transport {
  post(url: URL, post: Post, options?: PostOptions): TransportCall;
}

/**
 * A connection kept from an earlier call closed as the request was sent. No response arrived, and the provider had almost no
 * time to work, so the request may be sent on another connection.
 */
export class StaleConnectionError extends Error {
  override name = "StaleConnectionError";
}

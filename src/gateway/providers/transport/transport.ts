/** How bytes get to a provider: over the network, or within the process for the sandbox. */

export interface Post {
  headers: Record<string, string>;
  body: string;
}

export interface PostOptions {
  /** On a connection that has carried nothing yet. */
  fresh?: boolean;
}

/** The beginning of an answer. */
export interface ResponseHead {
  status: number;
  /** By name in lower case; several of one name are joined by commas. */
  headers: ReadonlyMap<string, string>;
}

/** Who waits for the next bytes of a body: told once, of one or the other. */
export interface BytesReceiver {
  /** null: the body is over. */
  take(bytes: Uint8Array | null): void;
  /** The body broke off. */
  fail(reason: unknown): void;
}

/** A body as it comes in. Its taker is called back, for a promise a piece would cost more than all else that is done with it. */
export interface Body {
  /** Asks for the next bytes, which are told at once where they are here. One taker at a time. */
  read(taker: BytesReceiver): void;
}

/** One request on its way, and what is answered. Nothing of it waits for ever on its own account: whoever waits ends it. */
export interface TransportCall extends Body {
  /** Resolves when the request goes out; null: it has. @throws what speaks against a connection */
  readonly connecting: Promise<void> | null;
  /** @throws what broke it off, StaleConnectionError among it */
  head(): Promise<ResponseHead>;
  /** Ends it from this side: what is being waited for rejects with `reason`. After the end of the body it does nothing. */
  end(reason: Error): void;
}

export interface Transport {
  post(url: URL, post: Post, options?: PostOptions): TransportCall;
}

/**
 * The connection that was kept from an earlier call was closed as the request was sent: nothing was answered, and in so short a
 * time hardly anything was worked, so another connection may carry the request.
 */
export class StaleConnectionError extends Error {
  override name = "StaleConnectionError";
}

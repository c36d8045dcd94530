/**
 * The HTTP response of an answer: its headers, and the body of a streamed one. The headers are the key's request window, waits, the
 * generation's id, the route that served, and what proxies must know about a stream. Names and notations are those of the official SDKs.
 * The error table has `x-should-retry`. A source gives the texts of a streamed body when the client has room, a sink takes them; each
 * server has its fastest form of the stream between the two. On Bun's server the text goes straight to the client's socket, without
 * promises and byte arrays on the way: that saves a fifteenth of the gateway's time when thousands of streams are open. It does not slow
 * down for a caller with a reader, so all others get the stream of the web standard.
 */
import type { RouteContext } from "../../../http/router.ts";
import type { WindowOnBus } from "../../admission/message.ts";
import type { Reservation } from "../../credit/reservation.ts";
import { candidateName, type Candidate } from "../../models/candidate.ts";

type Headers = Record<string, string>;

/** The key's request window, in the header names and time notation of the official SDKs. */
export function windowHeaders({ limit, remaining, resetMs }: WindowOnBus): Headers {
  return {
    "x-ratelimit-limit-requests": String(limit),
    "x-ratelimit-remaining-requests": String(remaining),
    "x-ratelimit-reset-requests": duration(resetMs),
  };
}

/**
 * The wait in both forms: whole seconds, rounded up, at least 1, and exact milliseconds. Some SDKs ignore a `retry-after` of 60 s, which
 * a full window gives, and read `retry-after-ms` first.
 */
export function retryHeaders(waitMs: number): Headers {
  const exactMs = Math.max(1, Math.ceil(waitMs));
  return { "retry-after": String(Math.ceil(exactMs / 1_000)), "retry-after-ms": String(exactMs) };
}

/** For every response to an accepted request, and for no other. */
export function generationHeaders({ generation, request }: Pick<Reservation, "generation" | "request">): Headers {
  return { "x-generation-id": generation, "x-request-id": request };
}

/** The route that served an answer, and whether the workspace's own key did. Only while the workspace has routing on, and not on errors. */
export function routeHeaders(candidate: Candidate): Headers {
  return { "x-route": candidateName(candidate) + (candidate.route.ownKey ? "; key=own" : "") };
}

/** Names in `x-ignored-fields`. */
const ignoredNamesMax = 20;

/** The hints of the request that were left out, sorted; no header if there are none. */
export function ignoredHeaders(ignored: Iterable<string>): Headers {
  const names = [...ignored].toSorted().slice(0, ignoredNamesMax);
  return names.length === 0 ? {} : { "x-ignored-fields": names.join(", ") };
}

/** Keeps proxies from holding events back, compressing or caching them. */
export const streamHeaders: Readonly<Headers> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** Such as `120ms`, `59.5s` and `1m0s`. */
function duration(ms: number): string {
  const wholeMs = Math.max(0, Math.ceil(ms));
  if (wholeMs < 1_000) return `${wholeMs}ms`;
  const minutes = Math.floor(wholeMs / 60_000);
  const seconds = (wholeMs - minutes * 60_000) / 1_000;
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds}s`;
}

// The body of a streamed answer

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

/** The form of a streamed answer for the server that sends it. Bun's idle timer would end a quiet stream; other runtimes have none. */
export function streamFor(request: Request, server: RouteContext["server"]): CreateStream {
  server?.timeout(request, 0);
  return server ? bunStream : webStream;
}

/**
 * Writes text straight to the client's socket through Bun's server, without promises and byte arrays on the way. Use it only for answers
 * that Bun's server sends: it does not slow down for a caller with a reader. Backpressure and end are specified at
 * https://bun.sh/reference/globals/bun/DirectUnderlyingSource.
 */
export function bunStream(source: TextSource): ReadableStream<Uint8Array> {
  const sink = new BunSink(source);
  // Begins at once, since a server whose client has left never pulls the body.
  source.begin(sink);
  return new ReadableStream({
    type: "direct",
    pull: (controller: ReadableStreamDirectController) => sink.open(controller),
    cancel: () => sink.cancel(),
  });
}

/** A stream by the web standard: for callers with a reader, and for servers of runtimes other than Bun. */
export function webStream(source: TextSource): ReadableStream<Uint8Array> {
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => source.begin(new WebSink(controller));
  return new ReadableStream({ start, pull: () => source.pull(), cancel: () => source.cancel() }, { highWaterMark: 0 });
}

class BunSink implements TextSink {
  readonly #source: TextSource;
  readonly #over = Promise.withResolvers<void>();
  #controller: ReadableStreamDirectController | null = null;
  /** The end of the stream, if it came before the server pulled the body. */
  #ending: (() => void) | null = null;

  constructor(source: TextSource) {
    this.#source = source;
  }

  /** Resolves when the stream has ended. */
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
    // The client's socket is full. A write fails when the client has left, which the server reports by itself.
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

const encoder = new TextEncoder();

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

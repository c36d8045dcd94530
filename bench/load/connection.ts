/** One kept-alive connection that carries one request at a time. */
import type { Socket } from "bun";
import { EventReader, preciseNow } from "./event-reader.ts";
import { ResponseReader, type Head } from "./response-reader.ts";
import type { Target } from "./target.ts";

export interface Outcome {
  /** 0: no answer. */
  status: number;
  /** null: a complete, successful answer. */
  code: string | null;
  /** In monotonic milliseconds. */
  endedAt: number;
}

/** Gets each event of an answer, and its end once. */
export interface ResponseHandler {
  event(at: number, latenessMs: number | null): void;
  ended(outcome: Outcome): void;
}

const errorBytesMax = 4_096;

interface OpenRequest {
  handler: ResponseHandler;
  since: number;
  status: number;
  closing: boolean;
  streamed: boolean;
  events: EventReader;
  done: boolean;
  error: string | null;
  failureText: string;
}

export class Connection {
  readonly #target: Target;
  #socket: Promise<Socket> | null = null;
  #openSocket: Socket | null = null;
  #unsent: Buffer[] = [];
  #reader: ResponseReader;
  #current: OpenRequest | null = null;

  constructor(target: Target) {
    this.#target = target;
    this.#reader = this.#newReader();
  }

  get busy(): boolean {
    return this.#current !== null;
  }

  /** The monotonic start of the open request; null: none. */
  get busySince(): number | null {
    return this.#current?.since ?? null;
  }

  /** Sends a request; the connection must not be busy. */
  send(request: Buffer[], handler: ResponseHandler): void {
    const { streamed } = this.#target;
    const since = performance.now();
    const begun = { handler, since, status: 0, closing: false, streamed, events: new EventReader() };
    this.#current = { ...begun, done: !streamed, error: null, failureText: "" };
    if (this.#openSocket !== null) return this.#write(this.#openSocket, request);
    this.#socket ??= this.#connect();
    this.#socket.then(
      (socket) => this.#write(socket, request),
      (error: unknown) => this.#finish(`connect: ${reasonOf(error)}`),
    );
  }

  /** Aborts the request and closes the connection. */
  abort(code: string): void {
    const socket = this.#openSocket;
    this.#forget();
    socket?.terminate();
    this.#finish(code);
  }

  close(): void {
    const socket = this.#openSocket;
    this.#current = null;
    this.#forget();
    socket?.end();
  }

  async #connect(): Promise<Socket> {
    const { hostname, port, tls } = this.#target;
    const socket = await Bun.connect({
      hostname,
      port,
      tls,
      socket: {
        data: (_socket, bytes) => this.#receive(bytes),
        drain: (from) => this.#flush(from),
        close: (from) => this.#closed(from),
        error: (_socket, error) => this.#broke(reasonOf(error)),
      },
    });
    socket.setNoDelay(true);
    this.#openSocket = socket;
    return socket;
  }

  #write(socket: Socket, pieces: Buffer[]): void {
    for (const [index, piece] of pieces.entries()) {
      const written = Math.max(socket.write(piece), 0);
      if (written === piece.length) continue;
      this.#unsent = [piece.subarray(written), ...pieces.slice(index + 1)];
      return;
    }
    this.#unsent = [];
  }

  #flush(socket: Socket): void {
    if (this.#unsent.length > 0) this.#write(socket, this.#unsent);
  }

  #receive(bytes: Buffer): void {
    try {
      this.#reader.push(bytes);
    } catch (error) {
      this.abort(reasonOf(error));
    }
  }

  #newReader(): ResponseReader {
    return new ResponseReader({
      head: (head) => this.#head(head),
      body: (bytes, from, to) => this.#body(bytes, from, to),
      end: () => this.#end(),
    });
  }

  #head({ status, closing }: Head): void {
    if (this.#current !== null) Object.assign(this.#current, { status, closing });
  }

  #body(bytes: Buffer, from: number, to: number): void {
    const current = this.#current;
    if (current === null) return;
    if (current.status !== 200) {
      const end = Math.min(to, from + errorBytesMax);
      if (current.failureText.length < errorBytesMax) current.failureText += bytes.toString("latin1", from, end);
      return;
    }
    if (!current.streamed) return;
    const at = performance.now();
    for (const event of current.events.push(bytes, from, to)) {
      if (event.done) current.done = true;
      else current.handler.event(at, event.sentAt === null ? null : preciseNow() - event.sentAt);
      current.error ??= event.error;
    }
  }

  #end(): void {
    const current = this.#current;
    if (current === null) return;
    // A server that answered before the whole request arrived cannot get another one on this connection.
    if (current.closing || this.#unsent.length > 0) {
      const socket = this.#openSocket;
      this.#forget();
      socket?.end();
    }
    if (current.status !== 200) return this.#finish(codeOf(current));
    this.#finish(current.error ?? (current.done ? null : "incomplete stream"));
  }

  #closed(from: Socket): void {
    if (from !== this.#openSocket) return;
    if (!this.#reader.closed()) this.#broke("connection closed");
    this.#forget();
  }

  #broke(reason: string): void {
    this.#forget();
    this.#finish(reason);
  }

  #forget(): void {
    this.#openSocket = null;
    this.#socket = null;
    this.#unsent = [];
    this.#reader = this.#newReader();
  }

  #finish(code: string | null): void {
    const current = this.#current;
    if (current === null) return;
    this.#current = null;
    current.handler.ended({ status: current.status, code, endedAt: performance.now() });
  }
}

/** The code in the error body, which Weir and most gateways send, else the status. */
function codeOf({ status, failureText }: OpenRequest): string {
  return /"code": ?"([^"]{1,80})"/.exec(failureText)?.[1] ?? `status ${status}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof Error) return "code" in error && typeof error.code === "string" ? error.code : error.message;
  return String(error);
}

/** Reads HTTP/1.1 answers from a connection's bytes: only what a load generator needs, as cheaply as possible. */

export interface Head {
  status: number;
  /** The server closes the connection after this answer. */
  closing: boolean;
}

export interface Reading {
  head(head: Head): void;
  /** The bytes from `from` to `to` belong to the body. */
  body(bytes: Buffer, from: number, to: number): void;
  end(): void;
}

const headBytesMax = 64 * 1024;
const headEnd = "\r\n\r\n";
const lineEnd = "\r\n";

type State = "head" | "counted" | "size" | "chunk" | "trailer" | "until-close";

export class ResponseReader {
  readonly #reading: Reading;
  #state: State = "head";
  #rest: Buffer | null = null;
  /** The remaining bytes of the body or of the chunk, including a chunk's line end. */
  #left = 0;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /** @throws Error when the bytes are not an HTTP/1.1 answer */
  push(arrived: Buffer): void {
    const bytes = this.#rest === null ? arrived : Buffer.concat([this.#rest, arrived]);
    this.#rest = null;
    let at = 0;
    while (at < bytes.length) {
      const next = this.#step(bytes, at);
      if (next === at) return this.#wait(bytes.subarray(at));
      at = next;
    }
  }

  /** The server closed the connection. @returns whether that is a regular end of the answer */
  closed(): boolean {
    if (this.#state !== "until-close") return false;
    this.#finish();
    return true;
  }

  #wait(rest: Buffer): void {
    if (rest.length > headBytesMax) throw new Error("The answer's head or chunk size is too long");
    this.#rest = rest;
  }

  /** @returns the offset up to which bytes were read; `at` when more bytes are needed */
  #step(bytes: Buffer, at: number): number {
    if (this.#state === "head") return this.#readHead(bytes, at);
    if (this.#state === "size") return this.#readSize(bytes, at);
    if (this.#state === "trailer") return this.#readTrailer(bytes, at);
    if (this.#state === "until-close") {
      this.#reading.body(bytes, at, bytes.length);
      return bytes.length;
    }
    return this.#readCounted(bytes, at);
  }

  #readHead(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(headEnd, at);
    if (end === -1) return at;
    const text = bytes.toString("latin1", at, end).toLowerCase();
    const status = Number(text.slice(9, 12));
    if (!text.startsWith("http/1.1 ") || !(status >= 100)) throw new Error("The answer is not HTTP/1.1");
    const next = end + headEnd.length;
    if (status === 100) return next;
    this.#reading.head({ status, closing: text.includes("\r\nconnection: close") });
    const length = /\r\ncontent-length: *(\d+)/.exec(text);
    if (text.includes("\r\ntransfer-encoding: chunked")) this.#state = "size";
    else if (length?.[1] === undefined) this.#state = "until-close";
    else {
      this.#left = Number(length[1]);
      this.#state = "counted";
      if (this.#left === 0) this.#finish();
    }
    return next;
  }

  #readSize(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(lineEnd, at);
    if (end === -1) return at;
    const size = Number.parseInt(bytes.toString("latin1", at, end), 16);
    if (!(size >= 0)) throw new Error("The answer's chunk has no size");
    this.#left = size + lineEnd.length;
    this.#state = size === 0 ? "trailer" : "chunk";
    return end + lineEnd.length;
  }

  #readCounted(bytes: Buffer, at: number): number {
    const taken = Math.min(bytes.length - at, this.#left);
    const ending = this.#state === "chunk" ? lineEnd.length : 0;
    const content = Math.min(taken, this.#left - ending);
    if (content > 0) this.#reading.body(bytes, at, at + content);
    this.#left -= taken;
    if (this.#left === 0) {
      if (this.#state === "chunk") this.#state = "size";
      else this.#finish();
    }
    return at + taken;
  }

  #readTrailer(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(lineEnd, at);
    if (end === -1) return at;
    if (end === at) this.#finish();
    return end + lineEnd.length;
  }

  #finish(): void {
    this.#state = "head";
    this.#reading.end();
  }
}

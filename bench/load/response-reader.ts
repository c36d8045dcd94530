/** Reads HTTP/1.1 answers from a connection's bytes: only what a load generator needs, at as little cost as it can be had. */

export interface Head {
  status: number;
  /** The server closes the connection after this answer. */
  closing: boolean;
}

export interface Reading {
  head(head: Head): void;
  body(bytes: Buffer): void;
  end(): void;
}

const headBytesMax = 64 * 1024;
const headEnd = Buffer.from("\r\n\r\n");
const lineEnd = Buffer.from("\r\n");

type State = "head" | "counted" | "size" | "chunk" | "trailer" | "until-close";

export class ResponseReader {
  readonly #reading: Reading;
  #state: State = "head";
  #rest: Buffer | null = null;
  /** Bytes of the body or of the chunk that are still to come; a chunk's includes its line end. */
  #left = 0;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /** @throws Error on what is no HTTP/1.1 answer */
  push(bytes: Buffer): void {
    let rest: Buffer | null = this.#rest === null ? bytes : Buffer.concat([this.#rest, bytes]);
    this.#rest = null;
    while (rest !== null && rest.length > 0) {
      const next: Buffer | null = this.#step(rest);
      if (next === rest) {
        if (rest.length > headBytesMax) throw new Error("The answer's head or chunk size is too long");
        this.#rest = rest;
        return;
      }
      rest = next;
    }
  }

  /** The server closed the connection. @returns whether that was an answer's regular end */
  closed(): boolean {
    if (this.#state !== "until-close") return false;
    this.#finish();
    return true;
  }

  /** @returns what is left after one step; the same bytes when more are needed first */
  #step(bytes: Buffer): Buffer | null {
    if (this.#state === "head") return this.#readHead(bytes);
    if (this.#state === "size") return this.#readSize(bytes);
    if (this.#state === "trailer") return this.#readTrailer(bytes);
    if (this.#state === "until-close") {
      this.#reading.body(bytes);
      return null;
    }
    return this.#readCounted(bytes);
  }

  #readHead(bytes: Buffer): Buffer {
    const end = bytes.indexOf(headEnd);
    if (end === -1) return bytes;
    const text = bytes.toString("latin1", 0, end).toLowerCase();
    const status = Number(text.slice(9, 12));
    if (!text.startsWith("http/1.1 ") || !(status >= 100)) throw new Error("The answer is not HTTP/1.1");
    const rest = bytes.subarray(end + headEnd.length);
    if (status === 100) return rest;
    this.#reading.head({ status, closing: text.includes("\r\nconnection: close") });
    const length = /\r\ncontent-length: *(\d+)/.exec(text);
    if (text.includes("\r\ntransfer-encoding: chunked")) this.#state = "size";
    else if (length?.[1] === undefined) this.#state = "until-close";
    else {
      this.#left = Number(length[1]);
      this.#state = "counted";
      if (this.#left === 0) this.#finish();
    }
    return rest;
  }

  #readSize(bytes: Buffer): Buffer {
    const end = bytes.indexOf(lineEnd);
    if (end === -1) return bytes;
    const size = Number.parseInt(bytes.toString("latin1", 0, end), 16);
    if (!(size >= 0)) throw new Error("The answer's chunk has no size");
    this.#left = size + lineEnd.length;
    this.#state = size === 0 ? "trailer" : "chunk";
    return bytes.subarray(end + lineEnd.length);
  }

  #readCounted(bytes: Buffer): Buffer {
    const taken = Math.min(bytes.length, this.#left);
    const ending = this.#state === "chunk" ? lineEnd.length : 0;
    const content = Math.min(taken, this.#left - ending);
    if (content > 0) this.#reading.body(bytes.subarray(0, content));
    this.#left -= taken;
    if (this.#left === 0) {
      if (this.#state === "chunk") this.#state = "size";
      else this.#finish();
    }
    return bytes.subarray(taken);
  }

  #readTrailer(bytes: Buffer): Buffer {
    const end = bytes.indexOf(lineEnd);
    if (end === -1) return bytes;
    if (end === 0) this.#finish();
    return bytes.subarray(end + lineEnd.length);
  }

  #finish(): void {
    this.#state = "head";
    this.#reading.end();
  }
}

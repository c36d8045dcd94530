/** Parses one HTTP/1.1 response from a connection's bytes, in whatever pieces they arrive. */
import { Buffer } from "node:buffer";
import { upstreamHeadBytesMax } from "../../../limits.ts";
import type { ResponseHead } from "../transport.ts";
import { sliceBytes } from "./slice-bytes.ts";
import { framingOf } from "./framing.ts";
import { parseHead } from "./head.ts";
import { MalformedAnswerError } from "./errors.ts";

export interface AnswerParts {
  begun(head: ResponseHead): void;
  piece(bytes: Uint8Array): void;
  /** @param keeps whether the connection can carry another request */
  ended(keeps: boolean): void;
}

const headEnd = "\r\n\r\n";
const lineEnd = "\r\n";
const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const sizeDigitsMax = 8;
/** The hexadecimal size of a chunk; extensions after it are ignored. */
const chunkSize = /^([\da-f]{1,8})[ \t]*(?:;|$)/i;

export class AnswerReader {
  readonly #parts: AnswerParts;
  #state: "head" | "counted" | "size" | "chunk" | "chunk end" | "trailer" | "until close" | "over" = "head";
  /** The start of a head or a line whose end has not arrived. */
  #rest: Buffer | null = null;
  /** Bytes of the body, or of its chunk, that have not arrived. */
  #left = 0;
  #keeps = false;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
  }

  /** Must not be called after the end. @throws MalformedAnswerError */
  push(arrived: Buffer): void {
    const bytes = this.#rest === null ? arrived : Buffer.concat([this.#rest, arrived]);
    this.#rest = null;
    let at = 0;
    while (at < bytes.length && this.#state !== "over") {
      const next = this.#step(bytes, at);
      if (next === at) return this.#wait(bytes.subarray(at));
      at = next;
    }
    // Bytes after the end were not requested, so the connection is not reused.
    if (this.#state === "over") this.#parts.ended(this.#keeps && at === bytes.length);
  }

  /** Reports that the connection was closed. @returns whether this was the response's regular end */
  closed(): boolean {
    if (this.#state !== "until close") return false;
    this.#state = "over";
    this.#parts.ended(false);
    return true;
  }

  #wait(rest: Buffer): void {
    if (rest.length > upstreamHeadBytesMax) throw new MalformedAnswerError("a head or a line is too long");
    this.#rest = rest;
  }

  /** @returns the end of the bytes that were read; `at` itself if more bytes are needed */
  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case "counted":
      case "chunk":
      case "until close":
        return this.#readBody(bytes, at);
      case "head":
        return this.#readHead(bytes, at);
      case "size":
        return this.#readSize(bytes, at);
      default:
        return this.#readLine(bytes, at);
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(headEnd, at);
    if (end === -1) return at;
    const head = parseHead(bytes.toString("latin1", at, end));
    if (head.status === 101) throw new MalformedAnswerError("the connection is to speak something else");
    if (head.status >= 200) {
      const { length, chunked, keeps } = framingOf(head);
      this.#keeps = keeps;
      this.#left = length ?? Infinity;
      this.#state = chunked ? "size" : length === null ? "until close" : length === 0 ? "over" : "counted";
      this.#parts.begun(head);
    }
    return end + headEnd.length;
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#parts.piece(sliceBytes(bytes, at, end));
    this.#left -= end - at;
    if (this.#left === 0) this.#state = this.#state === "chunk" ? "chunk end" : "over";
    return end;
  }

  /** Parses digits and a line end directly, which is what most sizes are; anything else as a line. */
  #readSize(bytes: Buffer, at: number): number {
    let size = 0;
    let next = at;
    for (let digit = hexDigit(bytes[next]); digit !== -1 && next - at < sizeDigitsMax; digit = hexDigit(bytes[next])) {
      size = size * 16 + digit;
      next++;
    }
    if (next === at || !endsLine(bytes, next)) return this.#readLine(bytes, at);
    this.#beginChunk(size);
    return next + lineEnd.length;
  }

  #beginChunk(size: number): void {
    this.#left = size;
    this.#state = size === 0 ? "trailer" : "chunk";
  }

  #readLine(bytes: Buffer, at: number): number {
    if (this.#state === "chunk end" && endsLine(bytes, at)) {
      this.#state = "size";
      return at + lineEnd.length;
    }
    const end = bytes.indexOf(lineEnd, at);
    if (end === -1) return at;
    const line = bytes.toString("latin1", at, end);
    if (this.#state === "size") {
      const size = chunkSize.exec(line)?.[1];
      if (size === undefined) throw new MalformedAnswerError("a chunk has no size");
      this.#beginChunk(Number.parseInt(size, 16));
    } else if (this.#state === "chunk end") {
      throw new MalformedAnswerError("a chunk is longer than its size");
    } else if (line === "") {
      this.#state = "over";
    }
    return end + lineEnd.length;
  }
}

function endsLine(bytes: Buffer, at: number): boolean {
  return bytes[at] === carriageReturn && bytes[at + 1] === lineFeed;
}

/** @returns -1 if the byte is not a hexadecimal digit */
function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

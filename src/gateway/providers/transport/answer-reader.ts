/**
 * Parses one HTTP/1.1 response from a connection's bytes, in whatever pieces they arrive: the head, the framing of the body by RFC 9112,
 * the chunks. A response in which two parsers could see two different ends is refused, and bytes after the end close the connection.
 * It is written by hand because the bytes of a stream then pass without a copy, and because only the headers that are read become texts;
 * providers send twenty and more.
 */
import { Buffer } from "node:buffer";
import { upstreamHeadBytesMax } from "../../limits.ts";

/** The headers of a response that are read; all others are dropped. */
const keptHeaders = ["connection", "content-encoding", "content-length", "content-type", "transfer-encoding"] as const;
type KeptHeader = (typeof keptHeaders)[number];

const keptNames: ReadonlySet<string> = new Set(keptHeaders);

/** @param name in lower case */
function isKeptHeader(name: string): name is KeptHeader {
  return keptNames.has(name);
}

/** The start of a response. */
export interface ResponseHead {
  status: number;
  /** By name in lower case; repeated headers are joined by commas. */
  headers: { readonly [Name in KeptHeader]?: string };
}

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

// The head

const statusLine = /^HTTP\/1\.[01] [1-5]\d\d(?: |$)/;
/** Where the status line has the minor version and the status. */
const minorAt = 7;
const statusAt = 9;

const colon = 0x3a;

/** 1 for each character that a name may have. */
const isNameCharacter = new Uint8Array(256);
for (let code = 0; code < isNameCharacter.length; code++)
  isNameCharacter[code] = /[!#$%&'*+.^`|~\w-]/.test(String.fromCharCode(code)) ? 1 : 0;

const keptLengths: ReadonlySet<number> = new Set(keptHeaders.map(({ length }) => length));

interface ParsedHead extends ResponseHead {
  /** HTTP/1.0 connections close unless the header says otherwise. */
  minor: "0" | "1";
}

/** @param text everything before the empty line, in Latin-1. @throws MalformedAnswerError */
function parseHead(text: string): ParsedHead {
  let end = endOfLine(text, 0);
  if (!statusLine.test(text.slice(0, end))) throw new MalformedAnswerError("the answer has no status line");
  const headers: { [Name in KeptHeader]?: string } = {};
  while (end < text.length) {
    const start = end + lineEnd.length;
    const nameEnd = endOfName(text, start);
    end = endOfLine(text, nameEnd);
    if (!keptLengths.has(nameEnd - start)) continue;
    const name = text.slice(start, nameEnd).toLowerCase();
    if (!isKeptHeader(name)) continue;
    const value = text.slice(nameEnd + 1, end).trim();
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return { minor: text[minorAt] === "0" ? "0" : "1", status: Number(text.slice(statusAt, statusAt + 3)), headers };
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf(lineEnd, from);
  return end === -1 ? text.length : end;
}

/** @returns where the colon is. @throws MalformedAnswerError */
function endOfName(text: string, start: number): number {
  let at = start;
  while (isNameCharacter[text.charCodeAt(at)] === 1) at++;
  if (at === start || text.charCodeAt(at) !== colon) throw new MalformedAnswerError("a header has no name");
  return at;
}

// Framing: https://www.rfc-editor.org/rfc/rfc9112#section-6.3, of responses to POST

interface Framing {
  /** Bytes of the body; null if it is chunked, or ends with the connection. */
  length: number | null;
  chunked: boolean;
  /** Whether the head allows another request on this connection. */
  keeps: boolean;
}

const wholeNumber = /^\d{1,15}$/;

/**
 * Up to this size a copy is cheaper than a view. JavaScriptCore keeps a small buffer among its objects until its first view,
 * which moves it to separate memory that the collector then frees one by one during its pause. Source: `fastSizeLimit` of
 * https://github.com/WebKit/WebKit/blob/main/Source/JavaScriptCore/runtime/JSArrayBufferView.h
 */
const copiedBytesMax = 1_000;

/** A part of the bytes that arrived in one piece. */
export function sliceBytes(bytes: Buffer, start: number, end: number): Buffer {
  if (bytes.length > copiedBytesMax) return bytes.subarray(start, end);
  const part = Buffer.allocUnsafe(end - start);
  bytes.copy(part, 0, start, end);
  return part;
}

/** @throws MalformedAnswerError if two parsers could see two different ends */
function framingOf(head: ParsedHead): Framing {
  const { status, headers } = head;
  const keeps = keepsConnection(head);
  if (status === 204 || status === 304) return { length: 0, chunked: false, keeps };
  const coding = headers["transfer-encoding"];
  const contentLength = headers["content-length"];
  if (coding !== undefined) {
    if (coding.toLowerCase() !== "chunked") throw new MalformedAnswerError("the answer's transfer coding is not known");
    return { length: null, chunked: true, keeps: keeps && contentLength === undefined };
  }
  if (contentLength === undefined) return { length: null, chunked: false, keeps: false };
  return { length: lengthIn(contentLength), chunked: false, keeps };
}

function keepsConnection({ minor, headers }: ParsedHead): boolean {
  const connection = headers["connection"]?.toLowerCase();
  if (connection === undefined) return minor === "1";
  return minor === "1" ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
}

/** A length that is repeated must be the same. @throws MalformedAnswerError */
function lengthIn(header: string): number {
  if (wholeNumber.test(header)) return Number(header);
  const [length, ...others] = new Set(header.split(",").map((one) => one.trim()));
  if (length === undefined || others.length > 0 || !wholeNumber.test(length))
    throw new MalformedAnswerError("the answer's length is not a number");
  return Number(length);
}

// Errors of a connection for which the system has no name

/** The bytes are not a valid HTTP/1.1 response. */
export class MalformedAnswerError extends Error {
  override name = "MalformedAnswerError";
}

/** The provider closed the connection before the end of its response. */
export class ConnectionClosedError extends Error {
  override name = "ConnectionClosedError";
}

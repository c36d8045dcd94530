/** Finds where a response's body ends: https://www.rfc-editor.org/rfc/rfc9112#section-6.3, for responses to POST. */
import type { ParsedHead } from "./head.ts";
import { MalformedAnswerError } from "./errors.ts";

export interface Framing {
  /** Bytes of the body; null if it is chunked, or ends with the connection. */
  length: number | null;
  chunked: boolean;
  /** Whether the head allows another request on this connection. */
  keeps: boolean;
}

/** @throws MalformedAnswerError if two parsers could see two different ends */
export function framingOf({ minor, status, headers }: ParsedHead): Framing {
  const connection = headers.get("connection")?.toLowerCase() ?? "";
  const keeps = minor === "1" ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
  if (status === 204 || status === 304) return { length: 0, chunked: false, keeps };
  const coding = headers.get("transfer-encoding");
  const contentLength = headers.get("content-length");
  if (coding !== undefined) {
    if (coding.toLowerCase() !== "chunked") throw new MalformedAnswerError("the answer's transfer coding is not known");
    return { length: null, chunked: true, keeps: keeps && contentLength === undefined };
  }
  if (contentLength === undefined) return { length: null, chunked: false, keeps: false };
  const [length, ...others] = new Set(contentLength.split(",").map((one) => one.trim()));
  if (length === undefined || others.length > 0 || !/^\d{1,15}$/.test(length)) {
    throw new MalformedAnswerError("the answer's length is no number");
  }
  return { length: Number(length), chunked: false, keeps };
}

/** Where an answer's body ends: https://www.rfc-editor.org/rfc/rfc9112#section-6.3, as far as answers to a POST go. */
import type { ParsedHead } from "./head.ts";
import { MalformedAnswerError } from "./errors.ts";

export interface Framing {
  /** Bytes of the body; null: it comes in chunks, or ends with the connection. */
  length: number | null;
  chunked: boolean;
  /** Nothing in the head speaks against another request on this connection. */
  keeps: boolean;
}

/** @throws MalformedAnswerError where two readers could see two ends */
export function framingOf({ minor, status, headers }: ParsedHead): Framing {
  const connection = headers.get("connection")?.toLowerCase() ?? "";
  const keeps = minor === "1" ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
  if (status === 204 || status === 304) return { length: 0, chunked: false, keeps };
  const coding = headers.get("transfer-encoding");
  const told = headers.get("content-length");
  if (coding !== undefined) {
    if (coding.toLowerCase() !== "chunked") throw new MalformedAnswerError("the answer's transfer coding is not known");
    return { length: null, chunked: true, keeps: keeps && told === undefined };
  }
  if (told === undefined) return { length: null, chunked: false, keeps: false };
  const [length, ...others] = new Set(told.split(",").map((one) => one.trim()));
  if (length === undefined || others.length > 0 || !/^\d{1,15}$/.test(length)) {
    throw new MalformedAnswerError("the answer's length is no number");
  }
  return { length: Number(length), chunked: false, keeps };
}

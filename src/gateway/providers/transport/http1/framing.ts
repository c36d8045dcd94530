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

const wholeNumber = /^\d{1,15}$/;

/** @throws MalformedAnswerError if two parsers could see two different ends */
export function framingOf(head: ParsedHead): Framing {
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
    throw new MalformedAnswerError("the answer's length is no number");
  return Number(length);
}

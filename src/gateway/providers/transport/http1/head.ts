/** Parses a response's status line and headers. */
import type { ResponseHead } from "../transport.ts";
import { MalformedAnswerError } from "./errors.ts";

const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/;
const fieldName = /^[!#$%&'*+.^`|~\w-]+$/;

export interface ParsedHead extends ResponseHead {
  /** HTTP/1.0 connections close unless the header says otherwise. */
  minor: "0" | "1";
}

/** @param text everything before the empty line, in Latin-1. @throws MalformedAnswerError */
export function parseHead(text: string): ParsedHead {
  const [first = "", ...lines] = text.split("\r\n");
  const [, minor, status] = statusLine.exec(first) ?? [];
  if (status === undefined) throw new MalformedAnswerError("the answer has no status line");
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (!fieldName.test(name)) throw new MalformedAnswerError("a header has no name");
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return { minor: minor === "0" ? "0" : "1", status: Number(status), headers };
}

/** Parses a response's status line and headers. Providers send twenty and more headers, so only those that are read become texts. */
import { isKeptHeader, keptHeaders, type KeptHeader, type ResponseHead } from "../transport.ts";
import { MalformedAnswerError } from "./errors.ts";

const statusLine = /^HTTP\/1\.[01] [1-5]\d\d(?: |$)/;
/** Where the status line has the minor version and the status. */
const minorAt = 7;
const statusAt = 9;
const lineEnd = "\r\n";
const colon = 0x3a;

/** 1 for each character that a name may have. */
const isNameCharacter = new Uint8Array(256);
for (let code = 0; code < isNameCharacter.length; code++)
  isNameCharacter[code] = /[!#$%&'*+.^`|~\w-]/.test(String.fromCharCode(code)) ? 1 : 0;

const keptLengths: ReadonlySet<number> = new Set(keptHeaders.map(({ length }) => length));

export interface ParsedHead extends ResponseHead {
  /** HTTP/1.0 connections close unless the header says otherwise. */
  minor: "0" | "1";
}

/** @param text everything before the empty line, in Latin-1. @throws MalformedAnswerError */
export function parseHead(text: string): ParsedHead {
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

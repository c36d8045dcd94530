/**
 * Finds an SBOM's bytes within the body of a call, reads it, and passes the result from one process to another.
 *
 * The document is parsed from exactly these bytes with its own limits; the small rest of the body has the limits of every call. Nothing is
 * parsed twice. Processes exchange the result as lines of JSON, each small enough to parse without blocking the event loop. Both ends run
 * the same version of this file.
 */
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  openBrace,
  openBracket,
  quote,
  space,
  JsonTokens,
  noToken,
} from "../../http/json.ts";
import type { EventLoopYielder } from "../../process/event-loop-yielder.ts";
import { packagesPerStatement } from "../limits.ts";
import type { PackageName } from "../versions/ecosystem.ts";
import { readSbom } from "./read-sbom.ts";
import { SbomRefusal } from "./refusal.ts";
import { toSbomRows, type SbomRows, type ComponentColumns, type EdgeColumns } from "./sbom-rows.ts";

/** The fields of a JSON body that lead to its document; null if the body is the document. */
export type SbomPath = readonly string[] | null;

interface SbomBody {
  bytes: Uint8Array;
  path: SbomPath;
}

/** A document, or the sentence that says why it is refused. */
export type SbomResult = { refused: null; rows: SbomRows } | { refused: string; rows: null };

export interface ParsedBody {
  /** null if the body contains no document. */
  sbom: SbomResult | null;
  /** The body without its document; empty if the bytes are the document. */
  rest: Uint8Array;
}

/** Finds the document and reads it. Large ones block the thread for seconds, so SbomReader handles them. */
export function parseSbomField({ bytes, path }: SbomBody): ParsedBody {
  if (path === null) return { sbom: read(bytes), rest: new Uint8Array() };
  const field = extractJsonField(bytes, path);
  return field === null ? { sbom: null, rest: bytes } : { sbom: read(field.document), rest: field.rest };
}

interface ExtractedField {
  /** The document's bytes as written; for a string, its content. */
  document: Uint8Array;
  /** The body with `{}` or `""` in place of the document. */
  rest: Uint8Array;
}

/**
 * @param path the fields that lead to the document; of duplicate keys the last counts, as in JSON.parse
 * @returns null if the body has no object or string there: then it is validated as a whole
 */
export function extractJsonField(body: Uint8Array, path: readonly string[]): ExtractedField | null {
  let at = skipSpace(body, 0);
  for (const key of path) {
    const value = body[at] === openBrace ? lastValueOf(body, at, key) : null;
    if (value === null) return null;
    at = value;
  }
  const end = endOfValue(body, at);
  const first = body[at];
  if (first !== openBrace && first !== quote) return null;
  const document = first === quote ? textOf(body.subarray(at, end)) : body.subarray(at, end);
  if (document === null) return null;
  return {
    document,
    rest: Buffer.concat([body.subarray(0, at), encoder.encode(first === quote ? '""' : "{}"), body.subarray(end)]),
  };
}

const encoder = new TextEncoder();

/** A parsed body as lines. */
export function* encodeBody(body: ParsedBody): Generator<string> {
  for (const line of linesOf(body)) yield `${JSON.stringify(line)}\n`;
}

/** @throws Error if the last line is missing */
export async function decodeBody(lines: AsyncIterable<string>, yielder: EventLoopYielder): Promise<ParsedBody> {
  const body: ParsedBody = { sbom: null, rest: new Uint8Array() };
  for await (const text of lines) {
    const line = parsed(text);
    if (line.kind === "end") return body;
    addTo(body, line);
    await yielder.yieldIfDue();
  }
  throw new Error("The process that reads SBOMs ended before its answer did");
}

/** The facts of the reader's task, written by SbomReader. */
export function decodePath(facts: string): SbomPath {
  return JSON.parse(facts) as SbomPath;
}

function read(document: Uint8Array): SbomResult {
  try {
    return { refused: null, rows: toSbomRows(readSbom(document)) };
  } catch (error) {
    if (error instanceof SbomRefusal) return { refused: error.message, rows: null };
    throw error;
  }
}

function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && (bytes[at] ?? 0) <= space) at++;
  return at;
}

/** @param at position of the object's brace @returns position of the field's value, or null */
function lastValueOf(bytes: Uint8Array, at: number, key: string): number | null {
  let found: number | null = null;
  for (let next = skipSpace(bytes, at + 1); bytes[next] === quote;) {
    const keyEnd = endOfValue(bytes, next);
    const colonAt = skipSpace(bytes, keyEnd);
    if (bytes[colonAt] !== colon) return null;
    const value = skipSpace(bytes, colonAt + 1);
    if (isKey(bytes.subarray(next, keyEnd), key)) found = value;
    const after = skipSpace(bytes, endOfValue(bytes, value));
    if (bytes[after] !== comma) break;
    next = skipSpace(bytes, after + 1);
  }
  return found;
}

/** @returns the position after the value, or after the bytes if the value does not end */
function endOfValue(bytes: Uint8Array, start: number): number {
  const first = bytes[start];
  if (first !== quote && first !== openBrace && first !== openBracket) return endOfWord(bytes, start);
  const tokens = new JsonTokens(bytes, start);
  let depth = 0;
  for (let token = tokens.next(); token !== noToken; token = tokens.next()) {
    if (token === openBrace || token === openBracket) depth++;
    else if (token === closeBrace || token === closeBracket) depth--;
    if (depth === 0) break;
  }
  return Math.min(tokens.end, bytes.length);
}

/** A number or a word such as `null`. */
function endOfWord(bytes: Uint8Array, start: number): number {
  let at = start;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte <= space || byte === comma || byte === closeBrace || byte === closeBracket) break;
  }
  return at;
}

/** Keys may be written with escapes of six bytes per character. */
function isKey(written: Uint8Array, key: string): boolean {
  return written.length <= key.length * 6 + 2 && parsedText(written) === key;
}

/** @returns null if it is not the JSON of a string */
function parsedText(written: Uint8Array): string | null {
  try {
    const text: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(written));
    return typeof text === "string" ? text : null;
  } catch {
    return null;
  }
}

/** A text with half a surrogate pair has no valid encoding; the check of the whole body refuses it. */
function textOf(written: Uint8Array): Uint8Array | null {
  const text = parsedText(written);
  return text?.isWellFormed() === true ? encoder.encode(text) : null;
}

type Line =
  /** The rest in base64, and the SBOM with empty lists: the next lines fill them. */
  | { kind: "body"; rest: string; sbom: SbomResult | null }
  | { kind: "packages"; packages: PackageName[] }
  | { kind: "components"; rows: ComponentColumns }
  | { kind: "edges"; rows: EdgeColumns }
  /** The last line. */
  | { kind: "end" };

function* linesOf({ sbom, rest }: ParsedBody): Generator<Line> {
  const rows = sbom?.rows ?? null;
  const head = rows === null ? sbom : { refused: null, rows: { ...rows, packages: [], componentRows: [], edgeRows: [] } };
  yield { kind: "body", rest: Buffer.from(rest).toString("base64"), sbom: head };
  if (rows !== null) {
    for (let at = 0; at < rows.packages.length; at += packagesPerStatement) {
      yield { kind: "packages", packages: rows.packages.slice(at, at + packagesPerStatement) };
    }
    for (const batch of rows.componentRows) yield { kind: "components", rows: batch };
    for (const batch of rows.edgeRows) yield { kind: "edges", rows: batch };
  }
  yield { kind: "end" };
}

/** The counterpart of `encodeBody`. */
function parsed(text: string): Line {
  return JSON.parse(text) as Line;
}

function addTo(body: ParsedBody, line: Exclude<Line, { kind: "end" }>): void {
  const rows = body.sbom?.rows;
  if (line.kind === "body") {
    body.rest = Buffer.from(line.rest, "base64");
    body.sbom = line.sbom;
  } else if (line.kind === "packages") for (const name of line.packages) rows?.packages.push(name);
  else if (line.kind === "components") rows?.componentRows.push(line.rows);
  else rows?.edgeRows.push(line.rows);
}

/**
 * Encodes prepared records as lines that a subprocess sends to its parent. Long values are unparsed lines, so that the parent parses nothing
 * large. Both processes run the same version of this file.
 */
import { packagesPerStatement } from "../../limits.ts";
import type { PackageName } from "../../versions/package-name.ts";
import type { PreparedRecord } from "./prepared-record.ts";

/** A record that a subprocess read, ready to be stored, or the reason why it cannot be. */
export class ReadRecord {
  readonly read: PreparedRecord | { reason: string };

  constructor(read: PreparedRecord | { reason: string }) {
    this.read = read;
  }
}

/** A parsed body. */
export interface ReadBody {
  /** Why the body is invalid; null: it is a JSON object. */
  refused: string | null;
  /** The names of its fields other than `records`. */
  others: string[];
  /** null: it has no list of this name. */
  records: ReadRecord[] | null;
}

type CodecLine =
  | { kind: "body"; refused: string | null; others: string[]; found: boolean }
  | { kind: "failure"; reason: string }
  | { kind: "record"; head: Omit<PreparedRecord, "names" | "positions" | "entryElements" | "recordElement"> }
  | { kind: "names"; names: PackageName[]; positions: number[] }
  /** The next line is the unparsed value. */
  | { kind: "entries" | "whole" }
  /** The last line: without it, the message is incomplete. */
  | { kind: "end" };

export function* encodeBody({ refused, others, records }: ReadBody): Generator<string> {
  yield line({ kind: "body", refused, others, found: records !== null });
  for (const { read } of records ?? []) {
    if ("reason" in read) yield line({ kind: "failure", reason: read.reason });
    else yield* encodeRecord(read);
  }
  yield line({ kind: "end" });
}

function* encodeRecord({ names, positions, entryElements, recordElement, ...head }: PreparedRecord): Generator<string> {
  yield line({ kind: "record", head });
  for (let at = 0; at < names.length; at += packagesPerStatement) {
    const end = at + packagesPerStatement;
    yield line({ kind: "names", names: names.slice(at, end), positions: positions.slice(at, end) });
  }
  yield line({ kind: "entries" });
  yield `${entryElements}\n`;
  yield line({ kind: "whole" });
  yield `${recordElement}\n`;
}

/** JSON.stringify writes no line ends. */
function line(head: CodecLine): string {
  return `${JSON.stringify(head)}\n`;
}

/** @throws when the last line is missing */
export async function decodeBody(lines: AsyncIterable<string>): Promise<ReadBody> {
  const body: ReadBody = { refused: null, others: [], records: null };
  let last: PreparedRecord | null = null;
  let next: "entryElements" | "recordElement" | null = null;
  for await (const text of lines) {
    if (next !== null) {
      if (last !== null) last[next] = text;
      next = null;
      continue;
    }
    const head = parsed(text);
    if (head.kind === "end") return body;
    if (head.kind === "body") {
      const { refused, others, found } = head;
      Object.assign(body, { refused, others, records: found ? [] : null });
    } else if (head.kind === "failure") body.records?.push(new ReadRecord({ reason: head.reason }));
    else if (head.kind === "record") {
      last = { ...head.head, names: [], positions: [], entryElements: "", recordElement: "" };
      body.records?.push(new ReadRecord(last));
    } else if (head.kind === "names") {
      last?.names.push(...head.names);
      last?.positions.push(...head.positions);
    } else next = head.kind === "entries" ? "entryElements" : "recordElement";
  }
  throw new Error("The process that reads advisories ended before its message was complete");
}

/** `encodeBody` wrote the line. */
function parsed(text: string): CodecLine {
  return JSON.parse(text) as CodecLine;
}

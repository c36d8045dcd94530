/**
 * Reads the body of an import: a batch of records, each as the few large strings that the database stores and the small parsed part that
 * the import needs.
 *
 * Large bodies are read in a subprocess, one at a time, because a record of 8 MiB would block the event loop for half a second. The
 * subprocess answers in lines. Long values are unparsed lines, so the parent parses nothing large. Both processes run the same version of
 * this file.
 */
import { elementText } from "../../backing/sql-text.ts";
import type { Clock } from "../../kernel/clock.ts";
import { digestOf } from "../../kernel/json.ts";
import { advisoryReadMs, advisoryBatchMax, packagesPerStatement } from "../limits.ts";
import { readerHead, readerLines } from "../subprocess.ts";
import type { PackageName } from "../versions/ecosystem.ts";
import { type Advisory, lastKnownOf, RecordError } from "./advisory.ts";
import { factsOf, type IssueFacts } from "./issue.ts";
import { readAdvisory } from "./read-advisory.ts";

let last: Promise<unknown> = Promise.resolve();

/** @throws if reading takes too long. The wait for other bodies counts only toward the caller's deadline. */
export function readBodyInSubprocess(bytes: Uint8Array, clock: Clock): Promise<ReadBody> {
  const read = async (): Promise<ReadBody> =>
    decodeBatch(readerLines({ input: [readerHead("advisories", ""), bytes], withinMs: advisoryReadMs, clock }));
  const reading = last.then(read, read);
  last = reading;
  reading.catch(() => {});
  return reading;
}

/** Reads at most one record more than a batch may have, so that the caller can refuse the batch. */
export function readBody(bytes: Uint8Array): ReadBody {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    const reason = error instanceof Error ? error.message : "it cannot be read";
    return { refused: `The body is not valid JSON: ${reason}`, others: [], records: null };
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return { refused: "The body must be a JSON object", others: [], records: null };
  }
  const { records, ...others } = Object.fromEntries(Object.entries(body));
  const list: unknown[] | null = Array.isArray(records) ? records : null;
  return {
    refused: null,
    others: Object.keys(others).slice(0, 1),
    records: list && list.slice(0, advisoryBatchMax + 1).map((record) => new ReadRecord(readRecord(record))),
  };
}

/** A record that is ready to be stored. */
export interface PreparedRecord {
  id: string;
  modified: string;
  aliases: string[];
  /** In hexadecimal. */
  digest: string;
  facts: IssueFacts;
  /** Packages of known ecosystems, and the position of each entry in the record. */
  names: PackageName[];
  positions: number[];
  /** The entries as elements of a PostgreSQL array, separated by commas; then the whole record as one element. */
  entryElements: string;
  recordElement: string;
}

/** @returns the prepared record, or the reason why it is invalid, with the path of the fault */
export function readRecord(raw: unknown): PreparedRecord | { reason: string } {
  try {
    return prepared(raw);
  } catch (error) {
    if (error instanceof RecordError) return { reason: error.message };
    throw error;
  }
}

/** A record that a subprocess read, ready to be stored, or the reason why it cannot be. */
export class ReadRecord {
  readonly read: PreparedRecord | { reason: string };

  constructor(read: PreparedRecord | { reason: string }) {
    this.read = read;
  }
}

interface ReadBody {
  /** Why the body is invalid; null: it is a JSON object. */
  refused: string | null;
  /** The names of its fields other than `records`. */
  others: string[];
  /** null: it has no list named `records`. */
  records: ReadRecord[] | null;
}

/** Encodes a read body as lines. */
export function* encodeBatch({ refused, others, records }: ReadBody): Generator<string> {
  yield line({ kind: "body", refused, others, found: records !== null });
  for (const { read } of records ?? []) {
    if ("reason" in read) yield line({ kind: "failure", reason: read.reason });
    else yield* encodeRecord(read);
  }
  yield line({ kind: "end" });
}

/** @throws if the last line is missing */
async function decodeBatch(lines: AsyncIterable<string>): Promise<ReadBody> {
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

type CodecLine =
  | { kind: "body"; refused: string | null; others: string[]; found: boolean }
  | { kind: "failure"; reason: string }
  | { kind: "record"; head: Omit<PreparedRecord, "names" | "positions" | "entryElements" | "recordElement"> }
  | { kind: "names"; names: PackageName[]; positions: number[] }
  /** The next line is the unparsed value. */
  | { kind: "entries" | "whole" }
  /** The last line: without it, the message is incomplete. */
  | { kind: "end" };

/** `encodeBatch` wrote the line. */
function parsed(text: string): CodecLine {
  return JSON.parse(text) as CodecLine;
}

/** @throws RecordError */
function prepared(raw: unknown): PreparedRecord {
  const advisory = readAdvisory(raw);
  const { id, modified, aliases } = advisory;
  const entries = entriesOf(advisory);
  return {
    id,
    modified,
    aliases,
    digest: digestOf(raw),
    facts: factsOf(advisory),
    names: entries.map(({ name }) => name),
    positions: entries.map(({ position }) => position),
    entryElements: entries.map(({ entry }) => elementText(JSON.stringify(entry))).join(","),
    recordElement: elementText(JSON.stringify(raw)),
  };
}

/** Leaves out ranges of commits, which only the raw record keeps. */
function entriesOf({ affected }: Advisory) {
  return affected.flatMap(({ package: named, ranges, versions, databaseSpecific }, position) => {
    if (named === null || named.ecosystem === null) return [];
    const kept = ranges.filter(({ type }) => type !== "GIT").map(({ type, events }) => ({ type, events }));
    const entry = { ranges: kept, versions, ...lastKnownOf(databaseSpecific) };
    return [{ position, name: { ecosystem: named.ecosystem, name: named.name }, entry }];
  });
}

/** JSON.stringify writes no line breaks. */
function line(head: CodecLine): string {
  return `${JSON.stringify(head)}\n`;
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

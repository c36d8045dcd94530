/**
 * Reads advisories from files, folders, archives and streams, one record at a time. The content decides what a file is. An invalid record
 * does not stop the others; a truncated or damaged archive yields the records before the fault, then a failure with its name. A cursor
 * names the last processed record, so an interrupted run continues after it.
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { archiveBudget, type Budget, BudgetUsage } from "../archives/budget.ts";
import { BudgetError, UnreadableError, type Bytes } from "../archives/byte-reader.ts";
import { linkRefusal, type Entry, folderEntries } from "../archives/entry.ts";
import { unwrap } from "../archives/unwrap.ts";
import { type Advisory, RecordError } from "./advisory.ts";
import { parsePiece, piecesOf, formatByContent, formatOf, type DocumentFormat } from "./document.ts";
import { readAdvisory } from "./read-advisory.ts";

/** The last processed record; reading resumes after it. */
export interface Cursor {
  document: string;
  /** Counted from 0 within the document. */
  record: number;
}

export type Reading = { name: string; cursor: Cursor } & (
  | { advisory: Advisory; /** The parsed value. */ raw: unknown }
  | { /** The rest of a sentence after the name. */ failure: string }
);

export interface Progress {
  bytesRead: number;
  /** null: unknown, as for folders and streams. */
  bytesTotal: number | null;
  records: number;
  failures: number;
}

export interface ReadOptions {
  source: AdvisorySource;
  after?: Cursor | undefined;
  /** Called after each record; the receiver limits how often it shows progress. */
  onProgress?: ((progress: Progress) => void) | undefined;
  budget?: Budget | undefined;
}

export class CursorError extends Error {
  override name = "CursorError";
}

/**
 * Reads all records of a source.
 * @throws CursorError if the source does not have the cursor's document; an error of the file system for an unknown path
 */
export async function* readAdvisories(options: ReadOptions): AsyncGenerator<Reading> {
  const source = await openSource(options.source, options.budget ?? archiveBudget);
  let [records, failures] = [0, 0];
  for await (const reading of readSource(source, options.after)) {
    if ("advisory" in reading) records++;
    else failures++;
    options.onProgress?.({ bytesRead: source.bytesRead(), bytesTotal: source.bytesTotal, records, failures });
    yield reading;
  }
}

type AdvisorySource = { path: string } | { name: string; bytes: AsyncIterable<Bytes> };

interface Document extends Entry {
  format: DocumentFormat;
}

interface OpenSource {
  /** Names the source in messages. */
  name: string;
  /** null: unknown, as for folders and streams. */
  bytesTotal: number | null;
  bytesRead(): number;
  /** Files of advisories and refused entries, one after another. @throws UnreadableError */
  documents(): AsyncGenerator<Document>;
}

/** @throws an error of the file system for an unknown path */
async function openSource(source: AdvisorySource, budget: Budget): Promise<OpenSource> {
  const count = { read: 0 };
  const bytesRead = () => count.read;
  if ("bytes" in source) {
    const { name, bytes } = source;
    return {
      name,
      bytesTotal: null,
      bytesRead,
      documents: () => fileDocuments({ name, pieces: counted(bytes, count), budget, bytesRead }),
    };
  }
  const { path } = source;
  const name = basename(path);
  const facts = await stat(path);
  if (facts.isDirectory())
    return { name, bytesTotal: null, bytesRead, documents: () => documentsIn(countedEntries(folderEntries(path), count)) };
  const documents = () => fileDocuments({ name, pieces: counted(createReadStream(path), count), budget, bytesRead });
  return { name, bytesTotal: facts.isFile() ? facts.size : null, bytesRead, documents };
}

interface File {
  name: string;
  pieces: AsyncIterable<Bytes>;
  budget: Budget;
  bytesRead(): number;
}

async function* fileDocuments({ name, pieces, budget, bytesRead }: File): AsyncGenerator<Document> {
  const usage = new BudgetUsage(budget, bytesRead);
  const { entries, isGzip, first, bytes, close } = await unwrap(pieces, usage);
  try {
    if (entries !== null) {
      yield* archiveDocuments(name, entries, usage);
    } else {
      const plainName = isGzip ? name.replace(/\.gz$/i, "") : name;
      yield { name, refusal: null, format: formatOf(plainName) ?? formatByContent(first), bytes };
    }
  } finally {
    await close();
  }
}

async function* archiveDocuments(archive: string, entries: AsyncIterable<Entry>, usage: BudgetUsage): AsyncGenerator<Document> {
  for await (const entry of entries) {
    usage.entry();
    if (entry.refusal === linkRefusal) continue;
    yield* documentOf({ ...entry, name: `${archive}/${entry.name}` });
  }
}

function* documentOf(entry: Entry): Generator<Document> {
  const format = formatOf(entry.name);
  if (format !== null) yield { ...entry, format };
}

async function* counted(pieces: AsyncIterable<Bytes>, count: { read: number }): AsyncGenerator<Bytes> {
  for await (const piece of pieces) {
    count.read += piece.length;
    yield piece;
  }
}

async function* documentsIn(entries: AsyncIterable<Entry>): AsyncGenerator<Document> {
  for await (const entry of entries) yield* documentOf(entry);
}

async function* countedEntries(entries: AsyncIterable<Entry>, count: { read: number }): AsyncGenerator<Entry> {
  for await (const entry of entries) yield { ...entry, bytes: () => counted(entry.bytes(), count) };
}

async function* readSource(source: OpenSource, after: Cursor | undefined): AsyncGenerator<Reading> {
  let [document, next] = [source.name, 0];
  let waitsFor = after?.document ?? null;
  try {
    for await (const found of source.documents()) {
      if (waitsFor !== null && found.name !== waitsFor) continue;
      const from = waitsFor === null ? 0 : (after?.record ?? -1) + 1;
      waitsFor = null;
      document = found.name;
      next = from;
      for await (const reading of readDocument(found, from)) {
        next = reading.cursor.record + 1;
        yield reading;
      }
    }
  } catch (error) {
    yield { name: source.name, cursor: { document, record: next }, failure: failureText(error) };
    return;
  }
  if (waitsFor !== null) throw new CursorError(`Cannot resume after "${waitsFor}": "${source.name}" does not have it`);
}

async function* readDocument(document: Document, from: number): AsyncGenerator<Reading> {
  const { name, refusal, format } = document;
  const cursorAt = (record: number): Cursor => ({ document: name, record });
  if (refusal !== null) {
    if (from === 0) yield { name, cursor: cursorAt(0), failure: refusal };
    return;
  }
  let record = 0;
  try {
    for await (const piece of piecesOf(document.bytes(), format)) {
      const cursor = cursorAt(record++);
      if (cursor.record < from) continue;
      yield { name: name + piece.at, cursor, ...attempt(() => parsePiece(piece, format)) };
    }
  } catch (error) {
    if (error instanceof BudgetError) throw error;
    yield { name, cursor: cursorAt(record), failure: failureText(error) };
  }
}

function attempt(parse: () => unknown): { advisory: Advisory; raw: unknown } | { failure: string } {
  try {
    const raw = parse();
    return { advisory: readAdvisory(raw), raw };
  } catch (error) {
    if (error instanceof RecordError) return { failure: error.message };
    throw error;
  }
}

/** @throws the error itself, unless the source or the disk caused it */
function failureText(error: unknown): string {
  if (error instanceof UnreadableError) return error.message;
  if (error instanceof Error && "code" in error && typeof error.code === "string") return `cannot be read: ${error.code}`;
  throw error;
}

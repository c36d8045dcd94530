/** Reads advisories from files, folders, archives and streams, one record at a time. An invalid record does not stop the others. */
import type { Advisory } from "./advisory.ts";
import { readAdvisory } from "./read-advisory.ts";
import { RecordError } from "./reading/record-error.ts";
import { archiveBudget, type Budget } from "../archives/budget.ts";
import { parsePiece, piecesOf } from "./reading/document.ts";
import { openSource, type AdvisorySource, type Document, type OpenSource } from "./reading/open-source.ts";
import { BudgetError, UnreadableError } from "../archives/unreadable-error.ts";

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
  /** Called after each record; the receiver limits how often it shows the progress. */
  onProgress?: ((progress: Progress) => void) | undefined;
  budget?: Budget | undefined;
}

export class CursorError extends Error {
  override name = "CursorError";
}

/**
 * A truncated or damaged archive gives the records before the fault, then a failure with the archive's name.
 * @throws CursorError when the source does not have the cursor's document; an error of the file system for an unknown path
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

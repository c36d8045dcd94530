/** Opens a file, an archive, a folder or a stream of advisories. The content determines the kind. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { BudgetUsage, type Budget } from "../../archives/budget.ts";
import type { Bytes } from "../../archives/byte-reader.ts";
import { linkRefusal, type Entry } from "../../archives/entry.ts";
import { folderEntries } from "../../archives/folder.ts";
import { unwrap } from "../../archives/unwrap.ts";
import { formatByContent, formatOf, type DocumentFormat } from "./document.ts";

export type AdvisorySource = { path: string } | { name: string; bytes: AsyncIterable<Bytes> };

export interface Document extends Entry {
  format: DocumentFormat;
}

export interface OpenSource {
  /** Names the source in messages. */
  name: string;
  /** null: unknown, as for folders and streams. */
  bytesTotal: number | null;
  bytesRead(): number;
  /** Files of advisories and refused entries, one after the other. @throws UnreadableError */
  documents(): AsyncGenerator<Document>;
}

/** @throws an error of the file system for an unknown path */
export async function openSource(source: AdvisorySource, budget: Budget): Promise<OpenSource> {
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

async function* documentsIn(entries: AsyncIterable<Entry>): AsyncGenerator<Document> {
  for await (const entry of entries) yield* documentOf(entry);
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

async function* countedEntries(entries: AsyncIterable<Entry>, count: { read: number }): AsyncGenerator<Entry> {
  for await (const entry of entries) yield { ...entry, bytes: () => counted(entry.bytes(), count) };
}

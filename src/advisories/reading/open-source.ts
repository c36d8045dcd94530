/** What is to be read: a file, an archive, a folder or a stream, told apart by what they hold. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { Spending, type Budget } from "./budget.ts";
import { ByteReader, type Bytes } from "./byte-reader.ts";
import { formatByContent, formatOf, type DocumentFormat } from "./document.ts";
import type { Entry } from "./entry.ts";
import { folderEntries } from "./folder.ts";
import { gunzip } from "./inflate.ts";
import { tarEntries } from "./tar.ts";
import { zipEntries } from "./zip.ts";

export type AdvisorySource = { path: string } | { name: string; bytes: AsyncIterable<Bytes> };

export interface Document extends Entry {
  format: DocumentFormat;
}

export interface OpenSource {
  /** Names the source in messages. */
  name: string;
  /** null: not known, as of folders and streams. */
  bytesTotal: number | null;
  bytesRead(): number;
  /** Files of advisories and what is refused, one after the other. @throws UnreadableError */
  documents(): AsyncGenerator<Document>;
}

/** @throws Error of the file system where there is no such path */
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

/** The longest that tells what a file is: a tar archive's mark stands at byte 257. */
const headBytes = 512;

async function* fileDocuments({ name, pieces, budget, bytesRead }: File): AsyncGenerator<Document> {
  const spending = new Spending(budget, bytesRead);
  const outer = new ByteReader(pieces);
  const isGzip = startsWith(await head(outer), [0x1f, 0x8b]);
  const reader = isGzip ? new ByteReader(spending.over(gunzip(rest(outer)))) : outer;
  try {
    const first = await head(reader);
    if (startsWith(first, [0x50, 0x4b, 0x03, 0x04]) || startsWith(first, [0x50, 0x4b, 0x05, 0x06])) {
      yield* archiveDocuments(name, zipEntries(reader, spending), spending);
    } else if (isTar(first)) {
      yield* archiveDocuments(name, tarEntries(reader), spending);
    } else {
      const plainName = isGzip ? name.replace(/\.gz$/i, "") : name;
      yield { name, refusal: null, format: formatOf(plainName) ?? formatByContent(first), bytes: () => rest(reader) };
    }
  } finally {
    await reader.close();
    await outer.close();
  }
}

async function* archiveDocuments(archive: string, entries: AsyncIterable<Entry>, spending: Spending): AsyncGenerator<Document> {
  for await (const entry of entries) {
    spending.entry();
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

async function head(reader: ByteReader): Promise<Bytes> {
  const first = (await reader.atMost(headBytes)).slice();
  reader.putBack(first);
  return first;
}

async function* rest(reader: ByteReader): AsyncGenerator<Bytes> {
  for (let piece = await reader.next(64 * 1024); piece !== null; piece = await reader.next(64 * 1024)) yield piece;
}

function startsWith(bytes: Bytes, mark: number[]): boolean {
  return mark.every((byte, index) => bytes[index] === byte);
}

function isTar(first: Bytes): boolean {
  return new TextDecoder().decode(first.subarray(257, 262)) === "ustar";
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

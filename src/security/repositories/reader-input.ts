/** Encodes a repository's lock files for the subprocess that reads them. Both ends run this file in the same version. */
import type { RepositoryFiles } from "./collected-files.ts";

export interface ReaderInput {
  /** Of the repository. */
  name: string;
  found: RepositoryFiles;
}

interface Head {
  name: string;
  refused: RepositoryFiles["refused"];
  files: { path: string; length: number }[];
}

/** A line, and the files after it. */
export function encodeReaderInput({ name, found: { files, refused } }: ReaderInput): Uint8Array[] {
  const head: Head = { name, refused, files: files.map(({ path, bytes }) => ({ path, length: bytes.length })) };
  return [new TextEncoder().encode(`${JSON.stringify(head)}\n`), ...files.map(({ bytes }) => bytes)];
}

export function decodeReaderInput(line: string, bytes: Uint8Array): ReaderInput {
  const { name, refused, files } = headOf(line);
  let at = 0;
  const cut = files.map(({ path, length }) => ({ path, bytes: bytes.subarray(at, (at += length)) }));
  return { name, found: { files: cut, refused } };
}

/** The counterpart of `encodeReaderInput`. */
function headOf(line: string): Head {
  return JSON.parse(line) as Head;
}

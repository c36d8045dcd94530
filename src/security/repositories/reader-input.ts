/** Encodes a repository's lock files for the subprocess that reads them. Both ends run this file in the same version. */
import type { RepositoryFiles } from "./collected-files.ts";

export interface ReaderInput {
  /** The repository's name. */
  name: string;
  found: RepositoryFiles;
}

/** The first line of the input. */
interface Header {
  name: string;
  refused: RepositoryFiles["refused"];
  files: { path: string; length: number }[];
}

/** @returns the header as a line of JSON, then the bytes of the files */
export function encodeReaderInput({ name, found: { files, refused } }: ReaderInput): Uint8Array[] {
  const header: Header = { name, refused, files: files.map(({ path, bytes }) => ({ path, length: bytes.length })) };
  return [new TextEncoder().encode(`${JSON.stringify(header)}\n`), ...files.map(({ bytes }) => bytes)];
}

/** The counterpart of `encodeReaderInput`. @param line the header @param bytes those of all files */
export function decodeReaderInput(line: string, bytes: Uint8Array): ReaderInput {
  const { name, refused, files } = parseHeader(line);
  let at = 0;
  const split = files.map(({ path, length }) => ({ path, bytes: bytes.subarray(at, (at += length)) }));
  return { name, found: { files: split, refused } };
}

/** `encodeReaderInput` wrote the line, so its type holds. */
function parseHeader(line: string): Header {
  return JSON.parse(line) as Header;
}

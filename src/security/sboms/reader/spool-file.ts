/** A document on its way to the process that reads it: in a file without a name, so that no gateway holds it in memory. */
import { randomUUID } from "node:crypto";
import { mkdir, open, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";

export type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

export interface SpoolFile extends AsyncDisposable {
  /** Open for reading, from the beginning. */
  fd: number;
}

/**
 * Writes pieces as they come. The file has lost its name when this resolves, and ends with its process.
 * @param folder of this process; made where it is not there
 * @throws what reading the pieces throws
 */
export async function spool(pieces: Pieces, folder: string): Promise<SpoolFile> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, randomUUID());
  await using written = await open(path, "wx", 0o600);
  try {
    for await (const piece of pieces) await writeAll(written, piece);
    const file = await open(path, "r");
    return { fd: file.fd, [Symbol.asyncDispose]: () => file.close() };
  } finally {
    await rm(path, { force: true });
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}

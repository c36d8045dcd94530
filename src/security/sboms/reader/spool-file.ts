/** Keeps a document in an unnamed file until a subprocess reads it, so that no gateway holds it in memory. */
import { randomUUID } from "node:crypto";
import { mkdir, open, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";

export type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

export interface SpoolFile extends AsyncDisposable {
  /** Open for reading, from the start. */
  fd: number;
}

/**
 * Writes the pieces as they arrive. When this resolves the file has no name any more, and it disappears with its process.
 * @param folder of this process; created if missing
 * @throws errors of reading the pieces
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

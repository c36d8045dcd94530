/** The file operations of a spool. The simulation has a disk of its own. */
import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";

/** Every method throws when the disk fails. */
export interface SpoolFiles {
  makeFolder(path: string): void;
  /** Names of a folder's files. */
  list(folder: string): string[];
  read(path: string): string;
  /** Creates a file. An existing file is an error. */
  create(path: string): SpoolFile;
  /** Removes a file, or a folder with its content. A missing path is no error. */
  remove(path: string): void;
}

export interface SpoolFile {
  /** Appends all bytes; when it throws, some of them may be written. */
  write(bytes: Uint8Array): void;
  truncate(bytes: number): void;
  close(): void;
}

export const diskFiles: SpoolFiles = {
  makeFolder: (path) => void mkdirSync(path, { recursive: true }),
  list: (folder) => readdirSync(folder),
  read: (path) => readFileSync(path, "utf8"),
  create: (path) => new DiskFile(openSync(path, "ax")),
  remove: (path) => rmSync(path, { recursive: true, force: true }),
};

class DiskFile implements SpoolFile {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  write(bytes: Uint8Array): void {
    for (let written = 0; written < bytes.length;) written += writeSync(this.#descriptor, bytes, written);
  }

  truncate(bytes: number): void {
    ftruncateSync(this.#descriptor, bytes);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

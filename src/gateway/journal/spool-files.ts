/** The few things that a spool does with files. A simulation brings a disk of its own. */
import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";

/** Every method throws where the disk does. */
export interface SpoolFiles {
  makeFolder(path: string): void;
  /** Names of what is in a folder. */
  list(folder: string): string[];
  read(path: string): string;
  /** A new file: one that is there already is an error. */
  create(path: string): SpoolFile;
  /** With all that is in it; what is not there is no error. */
  remove(path: string): void;
}

export interface SpoolFile {
  /** Appends all of it; when it throws, a part of it may be there. */
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

/** A disk in memory. Its files survive the death of a process. */
import { dirname } from "node:path";
import type { SpoolFile, SpoolFiles } from "../../../src/gateway/journal/spool.ts";

interface Content {
  bytes: Buffer[];
}

export class Disk implements SpoolFiles {
  readonly #files = new Map<string, Content>();
  readonly #folders = new Set<string>();
  /** The disk is full: each write fails after this many bytes. */
  full: { bytesLeft: number } | null = null;

  makeFolder(path: string): void {
    for (let folder = path; folder !== "/" && folder !== "."; folder = dirname(folder)) this.#folders.add(folder);
  }

  list(folder: string): string[] {
    if (!this.#folders.has(folder)) throw new Error(`There is no folder "${folder}"`);
    const within = [...this.#folders, ...this.#files.keys()].filter((path) => dirname(path) === folder);
    return within.map((path) => path.slice(folder.length + 1));
  }

  read(path: string): string {
    return Buffer.concat(this.#contentOf(path).bytes).toString();
  }

  create(path: string): SpoolFile {
    if (this.full) throw new Error("The disk is full");
    if (this.#files.has(path)) throw new Error(`There is a file "${path}" already`);
    const content: Content = { bytes: [] };
    this.#files.set(path, content);
    return { write: (bytes) => this.#write(content, bytes), truncate: (length) => truncate(content, length), close: () => {} };
  }

  remove(path: string): void {
    if (this.full) throw new Error("The disk refuses changes");
    this.lose(path);
  }

  /** Removes a path, even when the disk is full. */
  lose(path: string): void {
    for (const known of this.#files.keys()) if (isWithin(known, path)) this.#files.delete(known);
    for (const known of this.#folders) if (isWithin(known, path)) this.#folders.delete(known);
  }

  #write(content: Content, bytes: Uint8Array): void {
    if (!this.full) return void content.bytes.push(Buffer.from(bytes));
    content.bytes.push(Buffer.from(bytes.subarray(0, this.full.bytesLeft)));
    throw new Error("The disk is full");
  }

  #contentOf(path: string): Content {
    const content = this.#files.get(path);
    if (!content) throw new Error(`There is no file "${path}"`);
    return content;
  }
}

function truncate(content: Content, length: number): void {
  content.bytes = [Buffer.concat(content.bytes).subarray(0, length)];
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

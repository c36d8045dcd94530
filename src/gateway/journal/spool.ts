/**
 * The gateway's local record of what it owes to the ledger: a line before a request to admission, an intent before a provider is called, a
 * settlement before the client has the whole answer. The lines of one turn of the event loop are written with one call, to the page cache:
 * `kill -9` loses nothing, power loss may. To wait for the disk would add its latency to every request.
 * Lines are kept in segments. A segment is deleted once the ledger has confirmed all its generations and the rate window no longer needs
 * its admissions.
 * A failed write is rolled back and rejects the promises of its lines. From then on nothing may begin until a write succeeds, as on a full
 * disk. That write has the settlements that were left out, even those that the ledger has: a successor that finds an intent alone charges
 * only what was delivered by then, and a restored database may get that charge before the true one comes again.
 */
import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { rateWindowMs } from "../../backing/limits.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { GenerationId } from "../../kernel/ids.ts";
import { spoolSegmentBytesMax } from "../limits.ts";
import { generationsOf, nothingRecovered, recoveredFrom, type Recovered } from "./recovery.ts";
import {
  type AdmissionIntent,
  type BlockIntent,
  closedLine,
  decodeSpoolLine,
  encodeAdmissionLine,
  encodeBlocksLine,
  encodeIntentLine,
  encodeProgressLine,
  encodeSettlementLine,
  probeLine,
  type GenerationIntent,
  type ProgressLine,
  type SpoolLine,
} from "./spool-line.ts";

interface Segment {
  path: string;
  /** Its generations that the ledger has not confirmed. */
  open: Set<GenerationId>;
  /** Monotonic ms of its last line. */
  writtenAt: number;
}

/** The segment that receives new lines. */
interface OpenSegment extends Segment {
  file: SpoolFile;
  bytes: number;
}

/** A line that is written at the end of the current turn. */
interface PendingLine {
  line: string;
  /** The segment is kept until the ledger has this generation. */
  generation: GenerationId;
  /** A settlement, which is owed even if it cannot be written now. */
  isOwed: boolean;
  resolve: () => void;
  reject: (error: unknown) => void;
}

export class Spool implements Disposable {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #files: SpoolFiles;
  #recovered: Recovered;
  #done: Segment[];
  #current: OpenSegment;
  #number: number;
  #pending: PendingLine[] = [];
  /** The lines of settlements that could not be written, by generation. While there are any, `working` is false. */
  readonly #leftOut = new Map<GenerationId, string>();
  #working = true;
  #closed = false;

  /** Reads the existing segments and begins a new one. The caller must have locked the folder. */
  constructor(folder: string, clock: Clock, files: SpoolFiles = diskFiles) {
    files.makeFolder(folder);
    this.#folder = folder;
    this.#clock = clock;
    this.#files = files;
    const names = files
      .list(folder)
      .filter((name) => /^\d{10}\.jsonl$/.test(name))
      .toSorted();
    const segments = names.map((name) => readSegment(join(folder, name), files));
    this.#done = segments.map(({ path, lines }) => ({ path, open: generationsOf(lines), writtenAt: clock.monotonic() }));
    this.#recovered = recoveredFrom(segments.flatMap(({ lines }) => lines));
    this.#number = Number((names.at(-1) ?? "0").slice(0, 10));
    this.#current = this.#openSegment();
  }

  /** False after a failed write (disk full): no generation may begin until a write succeeds. */
  get working(): boolean {
    return this.#working;
  }

  /** Returns the recovered content, once. */
  takeRecovered(): Recovered {
    const recovered = this.#recovered;
    this.#recovered = nothingRecovered();
    return recovered;
  }

  /** @throws Error when the lines cannot be written: the requests to admission must not be sent */
  writeAdmissions(intents: AdmissionIntent[], blocks: BlockIntent[]): void {
    const asked = intents.length === 0 ? "" : encodeAdmissionLine(intents);
    this.#write(blocks.length === 0 ? asked : asked + encodeBlocksLine(blocks));
    this.#rotateWhenFull();
  }

  /** Rejects when the line cannot be written: the generation must not be dispatched. */
  writeIntent(intent: GenerationIntent): Promise<void> {
    return this.#writeSoon(encodeIntentLine(intent), intent.generation, false);
  }

  /**
   * Rejects when the line cannot be written now: the next write has it. The settlement must still be published from memory.
   * @param text the settlement as JSON
   */
  writeSettlement(generation: GenerationId, text: string): Promise<void> {
    return this.#writeSoon(encodeSettlementLine(text), generation, true);
  }

  /** Writes the progress of open generations. It keeps no segment, since it is written again while they are open. */
  writeProgress(progress: ProgressLine): void {
    this.#write(encodeProgressLine(progress));
    this.#rotateWhenFull();
  }

  /** Writes now the lines that wait for the end of the turn. A failure rejects their promises. */
  flush(): void {
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    try {
      this.#write(pending.map(({ line }) => line).join(""));
    } catch (error) {
      for (const { line, generation, isOwed, reject } of pending) {
        if (isOwed) this.#leftOut.set(generation, line);
        reject(error);
      }
      return;
    }
    for (const { generation, resolve } of pending) {
      this.#current.open.add(generation);
      resolve();
    }
    this.#rotateWhenFull();
  }

  /** Tries a write while `working` is false. */
  probe(): void {
    if (this.#working) return;
    try {
      this.#write(probeLine);
    } catch {
      // Still not working.
    }
  }

  /** Call it when the ledger has these generations. */
  confirm(generations: GenerationId[]): void {
    for (const { open } of [...this.#done, this.#current]) {
      if (open.size === 0) continue;
      for (const generation of generations) open.delete(generation);
    }
    this.#deleteDone();
  }

  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.flush();
    this.probe();
    this.#writeClosed();
    this.#closed = true;
    this.#deleteDone();
    this.#current.file.close();
  }

  /** Without this line the next start reports all settlements as those of a crash. */
  #writeClosed(): void {
    if (!this.#working || [...this.#done, this.#current].some(({ open }) => open.size > 0)) return;
    try {
      this.#write(closedLine);
    } catch {
      // They are published again in both cases.
    }
  }

  #writeSoon(line: string, generation: GenerationId, isOwed: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) this.#clock.endOfTurn(() => this.flush());
      this.#pending.push({ line, generation, isOwed, resolve, reject });
    });
  }

  #write(lines: string): void {
    // After the close, the file's descriptor may belong to another file or socket.
    if (this.#closed) throw new Error("Cannot write to the spool: it is closed");
    // A failed write may have left half a line: the next line begins with a line break.
    const leftOut = this.#working ? "" : `\n${[...this.#leftOut.values()].join("")}`;
    const bytes = Buffer.from(leftOut + lines);
    this.#working = false;
    try {
      this.#current.file.write(bytes);
    } catch (error) {
      rollBack(this.#current);
      throw error;
    }
    this.#working = true;
    this.#current.writtenAt = this.#clock.monotonic();
    this.#current.bytes += bytes.length;
    if (this.#leftOut.size > 0) this.#keepLeftOut();
  }

  /** The current segment has now what was left out. What the ledger has confirmed meanwhile does not keep it. */
  #keepLeftOut(): void {
    const segments = [...this.#done, this.#current];
    for (const generation of this.#leftOut.keys()) {
      if (segments.some(({ open }) => open.has(generation))) this.#current.open.add(generation);
    }
    this.#leftOut.clear();
  }

  /** If no new segment can be opened, the current one continues to grow. */
  #rotateWhenFull(): void {
    if (this.#current.bytes < spoolSegmentBytesMax) return;
    const full = this.#current;
    try {
      this.#current = this.#openSegment();
    } catch {
      return;
    }
    this.#done.push(full);
    full.file.close();
    this.#deleteDone();
  }

  #openSegment(): OpenSegment {
    const path = join(this.#folder, `${String(this.#number + 1).padStart(10, "0")}.jsonl`);
    const file = this.#files.create(path);
    this.#number++;
    return { path, open: new Set(), writtenAt: this.#clock.monotonic(), file, bytes: 0 };
  }

  /**
   * Deletes each segment separately, so that one long answer keeps only one segment. If a settlement's segment is deleted before its
   * intent's, a later start may report the generation as unknown: the ledger has its charge and ignores that.
   */
  #deleteDone(): void {
    const oldest = this.#clock.monotonic() - rateWindowMs;
    const isDone = ({ open, writtenAt }: Segment): boolean => open.size === 0 && writtenAt <= oldest;
    this.#done = this.#done.filter((segment) => !isDone(segment) || !tryRemove(segment.path, this.#files));
  }
}

/** Removes the lines of a failed write, since their promises are rejected. */
function rollBack({ file, bytes }: OpenSegment): void {
  try {
    file.truncate(bytes);
  } catch {
    // A later start may then report refused generations as unknown: they are not charged.
  }
}

/** A failed removal is tried again later: a full or read-only disk must not end the process. */
function tryRemove(path: string, files: SpoolFiles): boolean {
  try {
    files.remove(path);
    return true;
  } catch {
    return false;
  }
}

function readSegment(path: string, files: SpoolFiles): { path: string; lines: SpoolLine[] } {
  const texts = files.read(path).split("\n");
  return { path, lines: texts.flatMap((text) => decodeSpoolLine(text) ?? []) };
}

/** The file operations of a spool; the simulation has its own disk. Every method throws when the disk fails. */
export interface SpoolFiles {
  makeFolder(path: string): void;
  /** Names of a folder's files. */
  list(folder: string): string[];
  read(path: string): string;
  /** Creates a file. An existing file is an error. */
  create(path: string): SpoolFile;
  /** Removes a file, or a folder with its content. A missing path is not an error. */
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

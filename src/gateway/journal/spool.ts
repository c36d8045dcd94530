/**
 * The gateway's local record of what it owes to the ledger: a line before a request to admission, an intent before a provider is called, a
 * settlement before the client has the whole answer. The lines of one turn of the event loop are written with one call, to the page cache:
 * `kill -9` loses nothing, power loss may. To wait for the disk would add its latency to every request.
 * Lines are kept in segments. A segment is deleted once the ledger has confirmed all its generations and the rate window no longer needs
 * its admissions. A generation that ended in it may have begun in a segment that stays. The current segment then notes the end first: a
 * successor would charge an intent alone, and a restored database may lack the true charge.
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
import { endedBy, nothingRecovered, recoveredFrom, type Recovered } from "./recovery.ts";
import {
  type AdmissionIntent,
  type BlockIntent,
  closedLine,
  decodeSpoolLine,
  encodeAdmissionLine,
  encodeBlocksLine,
  encodeEndedLine,
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
  /** Generations that ended in it and began in an earlier one, by that one. */
  ended: Map<Segment, GenerationId[]>;
  /** Monotonic ms of its last line. */
  writtenAt: number;
}

/** The segment that receives new lines. */
interface OpenSegment extends Segment {
  file: SpoolFile;
  bytes: number;
}

/** A settlement that could not be written. */
interface LeftOut {
  line: string;
  /** The segment of its intent. */
  begunIn: Segment | undefined;
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

const segmentName = /^\d{10}(?:-(\w+))?\.jsonl$/;

export class Spool implements Disposable {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #files: SpoolFiles;
  #recovered: Recovered;
  #done: Segment[];
  #current: OpenSegment;
  #number: number;
  /** Those of earlier segments: processes that had the folder before. */
  readonly writers: readonly string[];
  readonly #writer: string;
  #pending: PendingLine[] = [];
  /** By generation. While there are any, `working` is false. */
  readonly #leftOut = new Map<GenerationId, LeftOut>();
  #working = true;
  #closed = false;

  /**
   * Reads the existing segments and begins a new one. The caller must have locked the folder.
   * @param writer letters and digits, in the names of its segments
   */
  constructor(folder: string, clock: Clock, files: SpoolFiles = diskFiles, writer = "") {
    files.makeFolder(folder);
    this.#folder = folder;
    this.#clock = clock;
    this.#files = files;
    const names = files
      .list(folder)
      .filter((name) => segmentName.test(name))
      .toSorted();
    const read = names.map((name) => readSegment(join(folder, name), files));
    this.#recovered = recoveredFrom(read.flatMap(({ lines }) => lines));
    this.#done = segmentsOf(read, this.#recovered.ended, clock.monotonic());
    this.#number = Number((names.at(-1) ?? "0").slice(0, 10));
    this.writers = [...new Set(names.flatMap((name) => segmentName.exec(name)?.[1] ?? []))];
    this.#writer = writer && `-${writer}`;
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
        if (isOwed) this.#leftOut.set(generation, { line, begunIn: this.#segmentOf(generation) });
        reject(error);
      }
      return;
    }
    for (const { generation, isOwed, resolve } of pending) {
      if (isOwed) noteEnd(this.#current, generation, this.#segmentOf(generation));
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
    this.#deleteDone();
    this.#writeClosed();
    this.#closed = true;
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
    const leftOut = this.#working ? "" : `\n${[...this.#leftOut.values()].map(({ line }) => line).join("")}`;
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
    for (const [generation, { begunIn }] of this.#leftOut) {
      noteEnd(this.#current, generation, begunIn);
      if (this.#segmentOf(generation) !== undefined) this.#current.open.add(generation);
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
    const path = join(this.#folder, `${String(this.#number + 1).padStart(10, "0")}${this.#writer}.jsonl`);
    const file = this.#files.create(path);
    this.#number++;
    return { ...emptySegment(path, this.#clock.monotonic()), file, bytes: 0 };
  }

  /** The latest segment with a generation that the ledger has not confirmed. */
  #segmentOf(generation: GenerationId): Segment | undefined {
    const has = ({ open }: Segment): boolean => open.has(generation);
    return has(this.#current) ? this.#current : this.#done.findLast(has);
  }

  /** Deletes each segment separately, so that one long answer keeps only one segment. */
  #deleteDone(): void {
    const oldest = this.#clock.monotonic() - rateWindowMs;
    const isDone = ({ open, writtenAt }: Segment): boolean => open.size === 0 && writtenAt <= oldest;
    const staying: Segment[] = [];
    for (const segment of this.#done) {
      if (isDone(segment) && this.#moveEnds(segment, staying) && tryRemove(segment.path, this.#files)) continue;
      staying.push(segment);
    }
    this.#done = staying;
  }

  /**
   * Notes in the current segment what ended in this one and began in one that stays.
   * @returns false if it cannot be written: the segment must stay
   */
  #moveEnds({ ended }: Segment, staying: readonly Segment[]): boolean {
    const moved = staying.flatMap((begunIn) => (ended.get(begunIn) ?? []).map((generation) => ({ generation, begunIn })));
    try {
      if (moved.length > 0) this.#write(encodeEndedLine(moved.map(({ generation }) => generation)));
    } catch {
      return false;
    }
    for (const { generation, begunIn } of moved) noteEnd(this.#current, generation, begunIn);
    // Otherwise a failed removal would note them again, and deleted segments would keep each other in memory.
    ended.clear();
    return true;
  }
}

function emptySegment(path: string, writtenAt: number): Segment {
  return { path, open: new Set(), ended: new Map(), writtenAt };
}

/** @param begunIn undefined: it has no intent, or that was deleted */
function noteEnd(segment: Segment, generation: GenerationId, begunIn: Segment | undefined): void {
  if (begunIn === undefined || begunIn === segment) return;
  const known = segment.ended.get(begunIn);
  if (known) known.push(generation);
  else segment.ended.set(begunIn, [generation]);
}

/** The segments of an earlier owner. @param ended generations that the ledger has */
function segmentsOf(
  read: readonly { path: string; lines: SpoolLine[] }[],
  ended: ReadonlySet<GenerationId>,
  writtenAt: number,
): Segment[] {
  const begunIn = new Map<GenerationId, Segment>();
  return read.map(({ path, lines }) => {
    const segment = emptySegment(path, writtenAt);
    for (const line of lines) {
      const begun = line.kind === "intent" ? [line.intent.generation] : [];
      for (const generation of begun) begunIn.set(generation, segment);
      for (const generation of endedBy(line)) noteEnd(segment, generation, begunIn.get(generation));
      for (const generation of [...begun, ...endedBy(line)]) if (!ended.has(generation)) segment.open.add(generation);
    }
    return segment;
  });
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

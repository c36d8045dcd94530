/**
 * The front's own copy of what it owes to the ledger: a line before admission is asked, an intent before a provider is called,
 * a settlement before the client has the whole answer. The lines of one turn of the event loop are written with one call (to the
 * page cache: `kill -9` loses nothing, power loss may), kept in segments, and deleted once the ledger confirmed all of a segment
 * and the rate window no longer needs its admissions.
 */
import { join } from "node:path";
import type { GenerationId } from "../../kernel/ids.ts";
import type { Clock } from "../../kernel/clock.ts";
import { rateWindowMs } from "../../backing/limits.ts";
import { spoolSegmentBytesMax } from "../limits.ts";
import { diskFiles, type SpoolFile, type SpoolFiles } from "./spool-files.ts";
import {
  type AdmissionIntent,
  decodeSpoolLine,
  encodeAdmissionLine,
  encodeIntentLine,
  encodeProgressLine,
  encodeSettlementLine,
  probeLine,
  type GenerationIntent,
  type ProgressLine,
  type SpoolLine,
} from "./spool-line.ts";
import { generationsOf, nothingRecovered, recoveredFrom, type Recovered } from "./recovered.ts";

interface Segment {
  path: string;
  /** Generations named in it that the ledger has not confirmed. */
  open: Set<GenerationId>;
  /** Monotonic ms of its last line. */
  writtenAt: number;
}

/** The segment that is written to. */
interface OpenSegment extends Segment {
  file: SpoolFile;
  bytes: number;
}

/** A line that is written at the end of the present turn. */
interface PendingLine {
  line: string;
  /** Keeps the segment until the ledger has it. */
  generation: GenerationId;
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
  #working = true;
  #closed = false;

  /** Reads what is there and begins a new segment. The folder must be locked by the caller. */
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

  /** False after a write failed (disk full): take no new generations until one succeeds. */
  get working(): boolean {
    return this.#working;
  }

  /** Hands out what was there at the start, once. */
  takeRecovered(): Recovered {
    const recovered = this.#recovered;
    this.#recovered = nothingRecovered();
    return recovered;
  }

  /** @throws Error when the line cannot be written: then admission must not be asked */
  writeAdmissions(intents: AdmissionIntent[]): void {
    this.#write(encodeAdmissionLine(intents));
    this.#rotateWhenFull();
  }

  /** Rejects when the line cannot be written: then the generation must not be dispatched. */
  writeIntent(intent: GenerationIntent): Promise<void> {
    return this.#writeSoon(encodeIntentLine(intent), intent.generation);
  }

  /**
   * Rejects when the line cannot be written: it is to be published from memory all the same.
   * @param text the settlement as JSON
   */
  writeSettlement(generation: GenerationId, text: string): Promise<void> {
    return this.#writeSoon(encodeSettlementLine(text), generation);
  }

  /** How far open generations are. Their segments need not be kept for it: it is written again while they are open. */
  writeProgress(progress: ProgressLine): void {
    this.#write(encodeProgressLine(progress));
    this.#rotateWhenFull();
  }

  /** Writes now what waits for the end of the turn. Who waits for it is told of a failure. */
  flush(): void {
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    try {
      this.#write(pending.map(({ line }) => line).join(""));
    } catch (error) {
      for (const { reject } of pending) reject(error);
      return;
    }
    for (const { generation, resolve } of pending) {
      this.#current.open.add(generation);
      resolve();
    }
    this.#rotateWhenFull();
  }

  /** Tries a write, for who was refused because `working` is false. */
  probe(): void {
    if (this.#working) return;
    try {
      this.#write(probeLine);
    } catch {
      // Still not working.
    }
  }

  /** The ledger has these generations. */
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
    this.#closed = true;
    this.#deleteDone();
    this.#current.file.close();
  }

  #writeSoon(line: string, generation: GenerationId): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) this.#clock.endOfTurn(() => this.flush());
      this.#pending.push({ line, generation, resolve, reject });
    });
  }

  #write(lines: string): void {
    // Once closed, the number of its file may be that of somebody's socket.
    if (this.#closed) throw new Error("Cannot write to the spool: it is closed");
    // A write that failed may have left half a line: the next one begins on its own.
    const bytes = Buffer.from(this.#working ? lines : `\n${lines}`);
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
  }

  /** Where no new segment can be opened, the present one goes on growing: what was written stays written. */
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
   * Each segment by itself, so that one long answer keeps one segment. An intent whose settlement is deleted already may be
   * taken for unknown by a later start: the ledger has it and takes no notice.
   */
  #deleteDone(): void {
    const oldest = this.#clock.monotonic() - rateWindowMs;
    const isDone = ({ open, writtenAt }: Segment): boolean => open.size === 0 && writtenAt <= oldest;
    this.#done = this.#done.filter((segment) => !isDone(segment) || !tryRemove(segment.path, this.#files));
  }
}

/** What a failed write left are lines that their writers were told are not there. */
function rollBack({ file, bytes }: OpenSegment): void {
  try {
    file.truncate(bytes);
  } catch {
    // A later start may then report as unknown what was refused: nobody is charged for it.
  }
}

/** What cannot be removed now is tried again: a full or read-only disk must not end the process. */
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

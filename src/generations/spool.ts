/**
 * The front's own copy of what it owes to the ledger: an intent line before a provider is called, a settlement line before
 * the client has the whole answer. Written synchronously (to the page cache: `kill -9` loses nothing, power loss may), kept in
 * segments, and deleted once the ledger confirmed all of a segment and the rate window no longer needs its admissions.
 */
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { GenerationId } from "../kernel/ids.ts";
import type { Clock } from "../kernel/clock.ts";
import { rateWindowMs, spoolSegmentBytesMax } from "../limits/constants.ts";
import { decodeSpoolLine, encodeSpoolLine, type Intent, type SpoolLine } from "./spool-line.ts";
import type { Settlement } from "./settlement.ts";

interface Segment {
  path: string;
  /** Generations named in it that the ledger has not confirmed. */
  open: Set<GenerationId>;
  /** Monotonic ms of its last line. */
  writtenAt: number;
}

/** What a spool held when it was opened. */
export interface Recovered {
  /** Dispatched, and no settlement written: nobody can tell how they ended. */
  unknown: Intent[];
  settlements: Settlement[];
  /** Admissions of the last minute and before, for the rate window. */
  intents: Intent[];
}

export class Spool implements Disposable {
  readonly recovered: Recovered;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #segments: Segment[] = [];
  #file: number;
  #bytes = 0;
  #number: number;
  #working = true;

  /** Reads what is there and begins a new segment. The folder must be locked by the caller. */
  constructor(folder: string, clock: Clock) {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
    this.#clock = clock;
    const names = readdirSync(folder)
      .filter((name) => /^\d{10}\.jsonl$/.test(name))
      .toSorted();
    const lines = names.map((name) => this.#recoverSegment(join(folder, name)));
    this.recovered = sortOut(lines.flat());
    this.#number = Number((names.at(-1) ?? "0").slice(0, 10));
    this.#file = this.#openSegment();
  }

  /** False after a write failed (disk full): take no new generations until one succeeds. */
  get working(): boolean {
    return this.#working;
  }

  /** @throws Error when the line cannot be written: then the generation must not be dispatched */
  writeIntents(intents: Intent[]): void {
    this.#write(intents.map((intent) => ({ kind: "intent", intent })));
  }

  /** Best effort on a full disk: the settlement is published from memory all the same. */
  writeSettlement(settlement: Settlement): void {
    try {
      this.#write([{ kind: "settlement", settlement }]);
    } catch {
      // `working` is false now; new generations are refused until a write succeeds.
    }
  }

  /** Tries a write, for who was refused because `working` is false. */
  probe(): void {
    if (this.#working) return;
    try {
      this.#write([{ kind: "note" }]);
    } catch {
      // Still not working.
    }
  }

  /** The ledger has these generations. */
  confirm(generations: GenerationId[]): void {
    for (const segment of this.#segments) for (const generation of generations) segment.open.delete(generation);
    this.#deleteDone();
  }

  [Symbol.dispose](): void {
    this.#deleteDone();
    closeSync(this.#file);
  }

  #write(lines: SpoolLine[]): void {
    const segment = this.#segments.at(-1);
    if (!segment) throw new Error("Cannot write to the spool: it is closed");
    const bytes = Buffer.from(lines.map(encodeSpoolLine).join(""));
    this.#working = false;
    for (let written = 0; written < bytes.length;) written += writeSync(this.#file, bytes, written);
    this.#working = true;
    for (const line of lines) {
      const generation = generationOf(line);
      if (generation) segment.open.add(generation);
    }
    segment.writtenAt = this.#clock.monotonic();
    this.#bytes += bytes.length;
    if (this.#bytes >= spoolSegmentBytesMax) this.#rotate();
  }

  #rotate(): void {
    closeSync(this.#file);
    this.#file = this.#openSegment();
    this.#deleteDone();
  }

  #openSegment(): number {
    this.#number++;
    this.#bytes = 0;
    const path = join(this.#folder, `${String(this.#number).padStart(10, "0")}.jsonl`);
    this.#segments.push({ path, open: new Set(), writtenAt: this.#clock.monotonic() });
    return openSync(path, "ax");
  }

  #deleteDone(): void {
    const oldest = this.#clock.monotonic() - rateWindowMs;
    while (this.#segments.length > 1) {
      const [segment] = this.#segments;
      if (!segment || segment.open.size > 0 || segment.writtenAt > oldest) return;
      rmSync(segment.path, { force: true });
      this.#segments.shift();
    }
  }

  #recoverSegment(path: string): SpoolLine[] {
    const lines = readFileSync(path, "utf8")
      .split("\n")
      .flatMap((text) => decodeSpoolLine(text) ?? []);
    const open = new Set(lines.flatMap((line) => generationOf(line) ?? []));
    this.#segments.push({ path, open, writtenAt: this.#clock.monotonic() });
    return lines;
  }
}

function generationOf(line: SpoolLine): GenerationId | null {
  if (line.kind === "intent") return line.intent.generation;
  return line.kind === "settlement" ? line.settlement.generation : null;
}

function sortOut(lines: SpoolLine[]): Recovered {
  const intents = new Map<GenerationId, Intent>();
  const settlements = new Map<GenerationId, Settlement>();
  for (const line of lines) {
    if (line.kind === "intent") intents.set(line.intent.generation, line.intent);
    else if (line.kind === "settlement") settlements.set(line.settlement.generation, line.settlement);
  }
  const unknown = [...intents.values()].filter(({ generation }) => !settlements.has(generation));
  return { unknown, settlements: [...settlements.values()], intents: [...intents.values()] };
}

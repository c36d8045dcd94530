/** Reads from the gateways' spools, while they are there, which generations were admitted with blocks: no row has that. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { decodeSpoolLine } from "../../../../src/gateway/journal/spool-line.ts";
import { UntilStopped } from "../load/until-stopped.ts";

export class SpooledBlocks {
  /** The block of each generation. */
  readonly #blocks = new Map<string, string>();
  /** How much of each segment was read, by its path and the number of its file: a spool that was adopted starts over. */
  readonly #read = new Map<string, number>();
  readonly #folder: string;
  readonly #reading: UntilStopped;

  /** A segment stays for a minute after its last line. @param folder of all gateways */
  constructor(folder: string) {
    this.#folder = folder;
    this.#reading = new UntilStopped(async () => {
      this.#readAll();
      return true;
    });
  }

  async stop(): Promise<ReadonlyMap<string, string>> {
    await this.#reading.stop();
    this.#readAll();
    return this.#blocks;
  }

  #readAll(): void {
    for (const path of readdirSync(this.#folder, { recursive: true, encoding: "utf8" })) {
      if (!/spool\/\d{10}(-\w+)?\.jsonl$/.test(path)) continue;
      try {
        this.#readSegment(path);
      } catch {
        // It was deleted meanwhile.
      }
    }
  }

  /** The last line may not be whole yet. */
  #readSegment(path: string): void {
    const whole = join(this.#folder, path);
    const segment = `${path} ${statSync(whole).ino}`;
    const text = readFileSync(whole, "utf8");
    const from = this.#read.get(segment) ?? 0;
    const end = text.lastIndexOf("\n") + 1;
    for (const line of text.slice(from, end).split("\n")) {
      const read = line.includes('"block":') ? decodeSpoolLine(line) : null;
      if (read?.kind === "intent" && read.intent.block !== undefined) this.#blocks.set(read.intent.generation, read.intent.block);
    }
    this.#read.set(segment, end);
  }
}

/** What an archive may become: bounds on its entries, on the bytes that they hold, and on how far it was compressed. */
import { archiveBytesMax, archiveEntriesMax, archiveRatioFromBytes, archiveRatioMax } from "../limits.ts";
import type { Bytes } from "./byte-reader.ts";
import { BudgetError } from "./unreadable-error.ts";

export interface Budget {
  entriesMax: number;
  bytesMax: number;
  ratioMax: number;
  /** Below so many bytes nothing is said of the ratio. */
  ratioFromBytes: number;
}

export const archiveBudget: Budget = {
  entriesMax: archiveEntriesMax,
  bytesMax: archiveBytesMax,
  ratioMax: archiveRatioMax,
  ratioFromBytes: archiveRatioFromBytes,
};

/** One archive's usage; what goes beyond ends the archive, for whoever made it meant no good. */
export class BudgetUsage {
  readonly #budget: Budget;
  /** Bytes of the archive that have been read. */
  readonly #read: () => number;
  #entries = 0;
  #bytes = 0;

  constructor(budget: Budget, read: () => number) {
    this.#budget = budget;
    this.#read = read;
  }

  /** @throws BudgetError */
  entry(): void {
    this.#entries++;
    if (this.#entries > this.#budget.entriesMax) {
      throw new BudgetError(`has more than ${this.#budget.entriesMax} entries, the most that are taken`);
    }
  }

  /** @throws BudgetError */
  async *over(pieces: AsyncIterable<Bytes>): AsyncGenerator<Bytes> {
    for await (const piece of pieces) {
      this.spend(piece.length);
      yield piece;
    }
  }

  /** @throws BudgetError */
  spend(bytes: number): void {
    this.#bytes += bytes;
    const { bytesMax, ratioMax, ratioFromBytes } = this.#budget;
    if (this.#bytes > bytesMax) throw new BudgetError(`holds more than ${bytesMax} bytes, the most that are taken`);
    if (this.#bytes > ratioFromBytes && this.#bytes > ratioMax * this.#read()) {
      throw new BudgetError(`grows to more than ${ratioMax} times its size when it is unpacked`);
    }
  }
}

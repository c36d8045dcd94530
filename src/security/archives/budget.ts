/**
 * Limits what an archive may unpack to: its entries, their bytes, and the ratio of unpacked to packed bytes. Exceeding a limit stops the
 * whole archive, because it is an attack. Small archives are exempt from the ratio, since short repetitive texts compress very well.
 */
import { archiveBytesMax, archiveEntriesMax, archiveRatioFromBytes, archiveRatioMax } from "../limits.ts";
import { type Bytes, BudgetError } from "./byte-reader.ts";

export interface Budget {
  entriesMax: number;
  bytesMax: number;
  ratioMax: number;
  /** The ratio counts only above this number of unpacked bytes. */
  ratioFromBytes: number;
}

export const archiveBudget: Budget = {
  entriesMax: archiveEntriesMax,
  bytesMax: archiveBytesMax,
  ratioMax: archiveRatioMax,
  ratioFromBytes: archiveRatioFromBytes,
};

/** One archive's usage. */
export class BudgetUsage {
  readonly #budget: Budget;
  /** Bytes of the archive read so far. */
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
      throw new BudgetError(`has more than ${this.#budget.entriesMax} entries, the most that are accepted`);
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
    if (this.#bytes > bytesMax) throw new BudgetError(`holds more than ${bytesMax} bytes, the most that are accepted`);
    if (this.#bytes > ratioFromBytes && this.#bytes > ratioMax * this.#read()) {
      throw new BudgetError(`grows to more than ${ratioMax} times its size when it is unpacked`);
    }
  }
}

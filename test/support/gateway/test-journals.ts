/** Journals of one folder: each recovers the generations of the one before. */
import { GenerationJournal } from "../../../src/gateway/journal/journal.ts";
import { decodeSettlements, type Settlement } from "../../../src/gateway/journal/settlement.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { settlementPauseMs } from "../../../src/gateway/limits.ts";
import { ManualClock } from "../clock.ts";
import { FakeBus } from "../servers/fake-bus.ts";
import { temporaryFolder, type TemporaryFolder } from "../temporary-folder.ts";

export class TestJournals implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly bus = new FakeBus();
  readonly #folder: TemporaryFolder;
  readonly #opened: GenerationJournal[] = [];

  private constructor(folder: TemporaryFolder) {
    this.#folder = folder;
  }

  static async make(): Promise<TestJournals> {
    return new TestJournals(await temporaryFolder());
  }

  get path(): string {
    return this.#folder.path;
  }

  open(): GenerationJournal {
    const { bus, clock, path: folder } = this;
    const journal = new GenerationJournal({ bus, clock, log: silentLog, folder });
    this.#opened.push(journal);
    return journal;
  }

  /** The published settlements, after the pause in which they are gathered. */
  async published(): Promise<Settlement[]> {
    await this.clock.pass(settlementPauseMs);
    return this.bus.stored.flatMap(({ payload }) => decodeSettlements(payload).settlements);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const journal of this.#opened) journal[Symbol.dispose]();
    await this.#folder[Symbol.asyncDispose]();
  }
}

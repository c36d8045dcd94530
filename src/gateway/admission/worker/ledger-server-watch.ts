/** Notices that another server keeps the ledger: a standby that was promoted, a restored backup, or the same one after a restart. */
import { withDeadline, type Clock } from "../../../kernel/clock.ts";
import { ledgerServerAnswerMs, ledgerServerMs } from "../../limits.ts";
import type { LoadStore } from "./load.ts";

interface WatchParts {
  store: Pick<LoadStore, "server">;
  clock: Clock;
}

interface Asked {
  /** In monotonic milliseconds. */
  at: number;
  ended: Promise<void>;
}

export class LedgerServerWatch {
  readonly #parts: WatchParts;
  readonly #onChange: () => void;
  #server: bigint | null = null;
  /** When the server last answered, in monotonic milliseconds. */
  #confirmedAt = -Infinity;
  /** null: no question is under way. */
  #asked: Asked | null = null;

  constructor(parts: WatchParts, onChange: () => void) {
    this.#parts = parts;
    this.#onChange = onChange;
  }

  /**
   * Asks which server it is, unless it told lately. Never rejects: while the database does not answer, what was known is used on, as keys
   * are, and each caller asks again.
   */
  async confirm(): Promise<void> {
    const { clock } = this.#parts;
    const now = clock.monotonic();
    const ageMs = now - this.#confirmedAt;
    if (ageMs < ledgerServerMs) return;
    const asked = this.#ask();
    if (ageMs < 2 * ledgerServerMs) return;
    await withDeadline(clock, ledgerServerAnswerMs, "The ledger's server", this.#answerSince(now, asked)).catch(() => {});
  }

  /** A question of before may have failed because the next server was not there yet: then another one is asked. */
  async #answerSince(time: number, asked: Asked): Promise<void> {
    await asked.ended;
    if (this.#confirmedAt < time && asked.at < time) await this.#ask().ended;
  }

  /** One question at a time. */
  #ask(): Asked {
    this.#asked ??= { at: this.#parts.clock.monotonic(), ended: this.#readServer().finally(() => (this.#asked = null)) };
    return this.#asked;
  }

  /** Never rejects. */
  async #readServer(): Promise<void> {
    const { store, clock } = this.#parts;
    const at = clock.monotonic();
    try {
      const server = await withDeadline(clock, ledgerServerAnswerMs, "The ledger's server", store.server());
      this.#confirmedAt = at;
      if (server === this.#server) return;
      const isFirst = this.#server === null;
      this.#server = server;
      if (!isFirst) this.#onChange();
    } catch {
      // The database is away: admission goes on with keys that are known, for half a minute.
    }
  }
}

/**
 * The prompts of open streams whose tokens are not known. Almost every provider reports them at the end, and counting takes as long as
 * checking the request, so a prompt waits in memory until its count is needed. Two bounds hold a process: beyond the memory for waiting
 * prompts each is counted as its stream begins, which releases it. And the journal, which notes once a second what each open stream owes if
 * the process dies, has only so many bytes counted in a second; for the others it notes the guess with which they began.
 */
import { ByteBudget, type ByteHolder } from "../../accounts/quotas/byte-budget.ts";
import type { Clock } from "../../kernel/clock.ts";
import { countedForJournalBytesMax, uncountedPromptsBytesMax } from "../limits.ts";
import { guessTokens } from "../models/chat-tokens.ts";

interface UncountedPrompt {
  holder: ByteHolder;
  bytes: number;
  /** Counts at the first call, and releases the prompt then. */
  estimate: () => number;
}

/** Of one stream, until it ends. */
export interface WaitingPrompt extends Disposable {
  /** For the journal: the estimate, or the guess. */
  tokensSoFar(): number;
}

export class UncountedPrompts {
  readonly #clock: Clock;
  readonly #memory: ByteBudget;
  /** The second, and the bytes that may still be counted for the journal within it. */
  #second = 0;
  #bytesLeft = 0;

  constructor(clock: Clock, bytesMax: number = uncountedPromptsBytesMax) {
    this.#clock = clock;
    this.#memory = new ByteBudget({ totalBytes: bytesMax, perWorkspaceBytes: bytesMax / 2, perKeyBytes: bytesMax / 2 });
  }

  /** The bytes of all waiting prompts. */
  get bytes(): number {
    return this.#memory.total;
  }

  keep({ holder, bytes, estimate }: UncountedPrompt): WaitingPrompt {
    const lease = this.#memory.lease(holder);
    let isCounted = !lease.growIfFree(bytes);
    if (isCounted) this.#clock.after(0, estimate);
    return {
      tokensSoFar: () => {
        isCounted ||= this.#mayCount(bytes);
        if (!isCounted) return guessTokens(bytes);
        // What is counted is released.
        lease[Symbol.dispose]();
        return estimate();
      },
      [Symbol.dispose]: () => lease[Symbol.dispose](),
    };
  }

  #mayCount(bytes: number): boolean {
    const second = Math.floor(this.#clock.monotonic() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#bytesLeft = countedForJournalBytesMax;
    }
    if (this.#bytesLeft <= 0) return false;
    this.#bytesLeft -= bytes;
    return true;
  }
}

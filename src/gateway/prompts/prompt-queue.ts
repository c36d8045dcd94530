/**
 * Writes prompts into the database in the background, so that storage delays no answer. Prompts that do not fit into the queue, or cannot
 * be written in a few tries, are dropped and counted: a stored prompt is a convenience, an answer is not. They are sealed in batches, few
 * enough for one turn of the event loop, and nothing of them is logged.
 */
import type { Queries } from "../../backing/backing.ts";
import { sleep, type Clock } from "../../kernel/clock.ts";
import { errorCode } from "../../kernel/error-code.ts";
import type { Logger } from "../../kernel/log.ts";
import { observe, promptsDroppedTotal } from "../../kernel/metrics.ts";
import { SealError } from "../../kernel/seal-key.ts";
import * as limits from "./limits.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import { DataKeyCache, sealPrompt, type PlainPrompt, type SealedPrompt } from "./sealed-prompt.ts";
import { insertPrompts } from "./store.ts";

interface Waiting {
  prompt: PlainPrompt;
  /** Approximate size in memory. */
  bytes: number;
}

interface QueueParts {
  /** A connection for this queue only, if the database allows several. */
  sql: Queries;
  keyring: Keyring;
  clock: Clock;
  log: Logger;
}

export class PromptQueue {
  readonly #parts: QueueParts;
  readonly #keys: DataKeyCache;
  readonly #waiting: Waiting[] = [];
  #bytes = 0;
  #writing: Promise<void> | null = null;

  constructor(parts: QueueParts) {
    this.#parts = parts;
    this.#keys = new DataKeyCache(parts);
    observe("weir_prompts_waiting", () => this.#waiting.length);
  }

  /** Never throws, and starts its work in the next turn of the event loop. @param bytes the prompt's approximate size in memory */
  add(prompt: PlainPrompt, bytes: number): void {
    const full = this.#waiting.length >= limits.promptsWaitingMax || this.#bytes + bytes > limits.promptBytesWaitingMax;
    if (full) return promptsDroppedTotal.inc({ reason: "full" });
    this.#waiting.push({ prompt, bytes });
    this.#bytes += bytes;
    this.#writing ??= this.#write();
  }

  /** Resolves when the queue is empty, at the latest after `deadlineMs`. */
  async flushed(deadlineMs: number): Promise<void> {
    if (this.#writing) await Promise.race([this.#writing, sleep(this.#parts.clock, deadlineMs)]);
  }

  async #write(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#batch();
      await this.#writeBatch(batch.map(({ prompt }) => prompt));
      this.#waiting.splice(0, batch.length);
      for (const { bytes } of batch) this.#bytes -= bytes;
    }
    this.#writing = null;
  }

  /** The first prompts, few enough to be sealed in one turn of the event loop and written by one statement. */
  #batch(): Waiting[] {
    let bytes = 0;
    const over = this.#waiting.findIndex((waiting, index) => {
      bytes += waiting.bytes;
      return index === limits.promptBatchMax || (index > 0 && bytes > limits.promptBatchBytesMax);
    });
    return this.#waiting.slice(0, over === -1 ? undefined : over);
  }

  async #writeBatch(prompts: PlainPrompt[]): Promise<void> {
    const { sql, clock, log } = this.#parts;
    for (let attempt = 1; ; attempt++) {
      try {
        const sealed = await this.#seal(prompts);
        if (sealed.length > 0) await insertPrompts(sealed, sql);
        return;
      } catch (error) {
        log.warn({ event: "prompts.not_written", attempt, ...reasonOf(error) }, "Stored prompts could not be written");
      }
      if (attempt === limits.promptWriteAttemptsMax) return promptsDroppedTotal.inc({ reason: "failed" }, prompts.length);
      await sleep(clock, limits.promptWriteRetryMs);
    }
  }

  /** A data key that cannot be unsealed affects only its own workspace's prompts. */
  async #seal(prompts: PlainPrompt[]): Promise<SealedPrompt[]> {
    const sealed: SealedPrompt[] = [];
    for (const prompt of prompts) {
      try {
        sealed.push(sealPrompt(prompt, await this.#keys.get(prompt.workspace)));
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        promptsDroppedTotal.inc({ reason: "failed" });
        this.#parts.log.error({ event: "prompts.not_sealed", workspace: prompt.workspace, ...reasonOf(error) });
      }
    }
    return sealed;
  }
}

/** A database's error text may quote the sealed prompts that it received, so it is not logged. */
function reasonOf(error: unknown): { name: string; code: string; reason: string } {
  const cause = error instanceof Error ? error : new Error("unknown");
  const code = errorCode(cause);
  return { name: cause.name, code, reason: cause instanceof SealError ? cause.message : "" };
}

/**
 * Writes prompts and answers into the database in the background, so that storage delays no answer. What does not fit into the queue, or
 * cannot be written in a few tries, is dropped and counted: a stored text is a convenience, an answer is not. Texts are sealed in batches
 * small enough for one turn of the event loop, and never logged.
 */
import type { Queries } from "../../backing/backing.ts";
import { sleep, type Clock } from "../../kernel/clock.ts";
import { errorCode } from "../../kernel/error-code.ts";
import type { Logger } from "../../kernel/log.ts";
import { observe, promptsDroppedTotal } from "../../kernel/metrics.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { SealError, type SealKey } from "../../kernel/seal-key.ts";
import * as limits from "./limits.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import { DataKeyCache, sealPrompt, type PlainPrompt, type SealedPrompt } from "./sealed-prompt.ts";
import { insertPrompts } from "./store.ts";

interface Waiting<Plain> {
  plain: Plain;
  /** Approximate size in memory. */
  bytes: number;
}

export interface QueueParts {
  /** A connection for this queue only, if the database allows several. */
  sql: Queries;
  keyring: Keyring;
  clock: Clock;
  log: Logger;
}

/** What is sealed with its workspace's data key before it is written. */
export abstract class SealedQueue<Plain extends { workspace: WorkspaceId }, Sealed> {
  protected readonly keys: DataKeyCache;
  readonly #parts: QueueParts;
  readonly #waiting: Waiting<Plain>[] = [];
  #bytes = 0;
  #writing: Promise<void> | null = null;

  constructor(parts: QueueParts) {
    this.#parts = parts;
    this.keys = new DataKeyCache(parts);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** What the log's lines begin with. */
  protected abstract readonly what: "prompts" | "kept_answers";
  protected abstract seal(plain: Plain, key: SealKey): Sealed;
  protected abstract write(sealed: Sealed[], sql: Queries): Promise<void>;
  protected abstract dropped(reason: "full" | "failed", count: number): void;

  /** Never throws, and starts its work in the next turn of the event loop. @param bytes its approximate size in memory */
  add(plain: Plain, bytes: number): void {
    const full = this.#waiting.length >= limits.promptsWaitingMax || this.#bytes + bytes > limits.promptBytesWaitingMax;
    if (full) return this.dropped("full", 1);
    this.#waiting.push({ plain, bytes });
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
      await this.#writeBatch(batch.map(({ plain }) => plain));
      this.#waiting.splice(0, batch.length);
      for (const { bytes } of batch) this.#bytes -= bytes;
    }
    this.#writing = null;
  }

  /** As many of the first ones as one turn of the event loop can seal and one statement can write. */
  #batch(): Waiting<Plain>[] {
    let bytes = 0;
    const over = this.#waiting.findIndex((waiting, index) => {
      bytes += waiting.bytes;
      return index === limits.promptBatchMax || (index > 0 && bytes > limits.promptBatchBytesMax);
    });
    return this.#waiting.slice(0, over === -1 ? undefined : over);
  }

  async #writeBatch(batch: Plain[]): Promise<void> {
    const { sql, clock, log } = this.#parts;
    for (let attempt = 1; ; attempt++) {
      try {
        const sealed = await this.#seal(batch);
        if (sealed.length > 0) await this.write(sealed, sql);
        return;
      } catch (error) {
        log.warn({ event: `${this.what}.not_written`, attempt, ...reasonOf(error) }, "Stored texts could not be written");
      }
      if (attempt === limits.promptWriteAttemptsMax) return this.dropped("failed", batch.length);
      await sleep(clock, limits.promptWriteRetryMs);
    }
  }

  /** A data key that cannot be unsealed affects only its own workspace's texts. */
  async #seal(batch: Plain[]): Promise<Sealed[]> {
    const sealed: Sealed[] = [];
    for (const plain of batch) {
      try {
        sealed.push(this.seal(plain, await this.keys.get(plain.workspace)));
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        this.dropped("failed", 1);
        this.#parts.log.error({ event: `${this.what}.not_sealed`, workspace: plain.workspace, ...reasonOf(error) });
      }
    }
    return sealed;
  }
}

export class PromptQueue extends SealedQueue<PlainPrompt, SealedPrompt> {
  protected override readonly what = "prompts";

  constructor(parts: QueueParts) {
    super(parts);
    observe("weir_prompts_waiting", () => this.waiting);
  }

  protected override seal(prompt: PlainPrompt, key: SealKey): SealedPrompt {
    return sealPrompt(prompt, key);
  }

  protected override write(sealed: SealedPrompt[], sql: Queries): Promise<void> {
    return insertPrompts(sealed, sql);
  }

  protected override dropped(reason: "full" | "failed", count: number): void {
    promptsDroppedTotal.inc({ reason }, count);
  }
}

/** A database's error text may quote the sealed prompts that it received, so it is not logged. */
function reasonOf(error: unknown): { name: string; code: string; reason: string } {
  const cause = error instanceof Error ? error : new Error("unknown");
  const code = errorCode(cause);
  return { name: cause.name, code, reason: cause instanceof SealError ? cause.message : "" };
}

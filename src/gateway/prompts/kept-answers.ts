/**
 * Answers to requests with an idempotency key, which a repeated request gets again. A workspace has to switch that on. Without it, and with
 * zero data retention, nothing is kept, and a repeated request is refused. An answer is kept for a day, which is as long as its key is
 * spent. It is kept whole or not at all, up to a size, with what an endpoint writes about it, sealed for its workspace and generation.
 * Answers are written in the background, as prompts are. If one is missing, the repeated request is refused and costs nothing either.
 */
import type { Queries } from "../../backing/backing.ts";
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import type { SealKey } from "../../kernel/seal-key.ts";
import { idempotencyMs } from "../limits.ts";
import type { Usage } from "../models/model.ts";
import type { AnswerWants, ProviderEvent, ProviderEventStream, WholeAnswer } from "../providers/provider.ts";
import { AnswerAssembly } from "../providers/transport/other-forms.ts";
import { keptAnswerBytesMax, keptAnswerReadMs, keptAnswersDeleteMax, keptAnswersForgetMs } from "./limits.ts";
import { tapped } from "./prompt-recorder.ts";
import { SealedQueue, type QueueParts } from "./prompt-queue.ts";
import { deleteKeptAnswers, insertKeptAnswers, selectKeptAnswer, type SealedAnswer } from "./store.ts";

/** All that is needed to write the answer again, for the same request. */
export interface KeptAnswer {
  answer: WholeAnswer;
  /** Unix seconds: when the request was accepted, and when its answer was whole. */
  created: number;
  completed: number;
  model: string;
  provider: string;
  /** See `WholeFacts` of the answer's format. */
  signer: string;
  /** What was charged. */
  usage: Usage;
  /** In nano-USD. */
  cost: string;
  /** The headers about its route. */
  headers: Record<string, string>;
}

type Identity = Omit<SealedAnswer, "answer">;

interface PlainAnswer extends Identity {
  /** JSON. */
  text: string;
}

/** Never true with zero data retention: the record of the workspace then leaves the field out. */
export function mayReplay({ record }: { record: { idempotentReplay?: true } }): boolean {
  return record.idempotentReplay === true;
}

export class KeptAnswers extends SealedQueue<PlainAnswer, SealedAnswer> {
  protected override readonly what = "kept_answers";
  readonly #sources: Pick<QueueParts, "sql" | "clock" | "log">;

  constructor(parts: QueueParts) {
    super(parts);
    this.#sources = parts;
  }

  keep(of: Identity, kept: KeptAnswer): void {
    const text = JSON.stringify(kept);
    const bytes = Buffer.byteLength(text);
    if (bytes <= keptAnswerBytesMax) this.add({ ...of, text }, bytes);
  }

  /** null: it was not kept, or cannot be read in time. */
  async find(of: { workspace: WorkspaceId; generation: GenerationId }): Promise<KeptAnswer | null> {
    const { clock, log } = this.#sources;
    try {
      return await withDeadline(clock, keptAnswerReadMs, "Reading a kept answer", this.#find(of));
    } catch (error) {
      const { name } = error instanceof Error ? error : new Error("unknown");
      log.warn({ event: "kept_answers.not_read", generation: of.generation, name }, "A kept answer could not be read");
      return null;
    }
  }

  async #find(of: { workspace: WorkspaceId; generation: GenerationId }): Promise<KeptAnswer | null> {
    const sealed = await selectKeptAnswer(of, this.#sources.sql);
    if (sealed === undefined) return null;
    const key = await this.keys.get(of.workspace);
    // Sealed by `keep`, which alone can write what this key opens.
    return JSON.parse(Buffer.from(key.open(sealed, about(of))).toString()) as KeptAnswer;
  }

  protected override seal({ text, ...of }: PlainAnswer, key: SealKey): SealedAnswer {
    return { ...of, answer: key.seal(Buffer.from(text), about(of)) };
  }

  protected override write(sealed: SealedAnswer[], sql: Queries): Promise<void> {
    return insertKeptAnswers(sealed, sql);
  }

  protected override dropped(reason: "full" | "failed", count: number): void {
    this.#sources.log.warn({ event: "kept_answers.dropped", reason, count }, "Answers could not be kept for repeated requests");
  }
}

function about({ workspace, generation }: { workspace: WorkspaceId; generation: GenerationId }): string {
  return JSON.stringify([workspace, generation, "kept answer"]);
}

/** Gathers the answer of a stream while its client gets it. */
export class AnswerKeeper {
  #parts: AnswerAssembly | null;
  #characters = 0;

  constructor(wants: AnswerWants | undefined) {
    this.#parts = new AnswerAssembly(wants);
  }

  tap(events: ProviderEventStream): ProviderEventStream {
    return tapped(events, (event) => this.#note(event));
  }

  /** Call it when the answer is whole. null: it is too large to be kept. */
  answer(): WholeAnswer | null {
    return this.#parts?.whole() ?? null;
  }

  #note(event: ProviderEvent): void {
    if (event.kind === "failure" || event.kind === "end") return;
    this.#characters += JSON.stringify(event).length;
    // Each delta repeats some fields that the whole answer has once.
    if (this.#characters > 16 * keptAnswerBytesMax) this.#parts = null;
    this.#parts?.add(event);
  }
}

/** Until disposed, deletes kept answers whose keys are free again, and those of workspaces that no longer keep any. */
export function startForgettingAnswers({ sql, clock, log }: { sql: Queries; clock: Clock; log: Logger }): AsyncDisposable {
  return repeatUntilStopped({
    clock,
    async round(signal) {
      const before = new Date(clock.now() - idempotencyMs);
      for (let deleted = keptAnswersDeleteMax; deleted === keptAnswersDeleteMax && !signal.aborted;)
        deleted = await deleteKeptAnswers({ before, limit: keptAnswersDeleteMax }, sql);
    },
    everyMs: keptAnswersForgetMs,
    onError: (error) => {
      const { name } = error instanceof Error ? error : new Error("unknown");
      log.warn({ event: "kept_answers.not_deleted", name }, "Old answers could not be deleted");
    },
  });
}

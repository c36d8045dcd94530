/** Records the prompt of one generation and its answer until the answer ends. */
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import type { ProviderEventStream, ProviderEvent } from "../providers/provider.ts";
import { AnswerAssembler } from "./answer-assembler.ts";
import type { PromptQueue } from "./prompt-queue.ts";

export interface PromptFacts {
  generation: GenerationId;
  workspace: WorkspaceId;
  /** Time of admission in milliseconds of the counters' clock. */
  admittedAt: number;
  messages: Record<string, unknown>[];
  /** UTF-8 bytes of the messages' texts, or slightly more. */
  bytes: number;
}

export class PromptRecorder {
  readonly #facts: PromptFacts;
  readonly #queue: Pick<PromptQueue, "add">;
  readonly #answer = new AnswerAssembler();

  constructor(facts: PromptFacts, queue: Pick<PromptQueue, "add">) {
    this.#facts = facts;
    this.#queue = queue;
  }

  /** Appends the message of a whole answer, or a piece of it. */
  append(message: Record<string, unknown>): void {
    this.#answer.append(message);
  }

  /** Returns the same events and records their deltas. */
  tap(events: ProviderEventStream): ProviderEventStream {
    return {
      next: (taker) => events.next({ take: (news) => taker.take(this.#record(news)) }),
      cancel: () => events.cancel(),
      [Symbol.asyncDispose]: () => events[Symbol.asyncDispose](),
    };
  }

  #record(events: readonly ProviderEvent[]): readonly ProviderEvent[] {
    for (const event of events) if (event.kind === "delta") this.append(event.delta);
    return events;
  }

  /** Call it once when the answer has ended, with or without an error: it queues the messages and the received answer. */
  store(): void {
    const { generation, workspace, admittedAt: at, messages, bytes } = this.#facts;
    const { message: answer, truncated: answerCut, characters } = this.#answer;
    this.#queue.add({ generation, workspace, at, messages, answer, answerCut }, bytes + characters);
  }
}

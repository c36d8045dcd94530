/** The prompt of one generation while its answer is under way. */
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import type { ProviderEventStream, ProviderEvent } from "../providers/provider.ts";
import { AnswerAssembler } from "./answer-assembler.ts";
import type { PromptQueue } from "./prompt-queue.ts";

export interface PromptFacts {
  generation: GenerationId;
  workspace: WorkspaceId;
  /** Milliseconds: admission by the counters' clock. */
  admittedAt: number;
  messages: Record<string, unknown>[];
  /** UTF-8 bytes of their texts, or somewhat more. */
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

  /** Takes the message of a whole answer, or a piece of it. */
  append(message: Record<string, unknown>): void {
    this.#answer.append(message);
  }

  /** The same events, listened to. */
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

  /** Once, when the answer has ended, however it did: what came of it is stored with the messages. */
  store(): void {
    const { generation, workspace, admittedAt: at, messages, bytes } = this.#facts;
    const { message: answer, truncated: answerCut, characters } = this.#answer;
    this.#queue.add({ generation, workspace, at, messages, answer, answerCut }, bytes + characters);
  }
}

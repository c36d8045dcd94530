/**
 * Records the prompt of one generation and its answer until the answer ends, from a whole message or from the deltas of a stream, up to a
 * bound beyond which the answer is marked as truncated. It keeps nothing but texts, and writes nothing before the end.
 */
import { isJsonObject } from "../../http/json.ts";
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import type { ProviderEventStream, ProviderEvent } from "../providers/provider.ts";
import { storedAnswerCharactersMax } from "./limits.ts";
import type { PromptQueue } from "./prompt-queue.ts";

interface PromptFacts {
  generation: GenerationId;
  workspace: WorkspaceId;
  /** Time of admission in milliseconds of the counters' clock. */
  admittedAt: number;
  messages: Record<string, unknown>[];
  parameters: Record<string, unknown>;
  /** UTF-8 bytes of the texts of both, or slightly more. */
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
    return tapped(events, (event) => {
      if (event.kind === "delta") this.append(event.delta);
    });
  }

  /** Call it once when the answer has ended, with or without an error: it queues the request and the received answer. */
  store(): void {
    const { generation, workspace, admittedAt: at, messages, parameters, bytes } = this.#facts;
    const { message: answer, truncated: answerCut, characters } = this.#answer;
    this.#queue.add({ generation, workspace, at, messages, parameters, answer, answerCut }, bytes + characters);
  }
}

/** The same events. @param note called with each before its receiver has it */
export function tapped(events: ProviderEventStream, note: (event: ProviderEvent) => void): ProviderEventStream {
  const noted = (news: readonly ProviderEvent[]): readonly ProviderEvent[] => {
    for (const event of news) note(event);
    return news;
  };
  return {
    next: (taker) => events.next({ take: (news) => taker.take(noted(news)) }),
    cancel: () => events.cancel(),
    [Symbol.asyncDispose]: () => events[Symbol.asyncDispose](),
  };
}

type Fields = Record<string, unknown>;

/** Assembles the message of an answer from its pieces, up to a bound. A whole answer is one piece. */
export class AnswerAssembler {
  #message: Fields | null = null;
  #room = storedAnswerCharactersMax;
  #truncated = false;

  /** null: no piece had content. */
  get message(): Fields | null {
    return this.#message;
  }

  /** Count of characters in its texts. */
  get characters(): number {
    return storedAnswerCharactersMax - this.#room;
  }

  /** Whether the answer was longer than the bound. */
  get truncated(): boolean {
    return this.#truncated;
  }

  /** @param piece in the form of a chat completion's delta: texts are appended, tool calls are merged by their index */
  append({ role: _role, ...piece }: Fields): void {
    if (this.#truncated || Object.keys(piece).length === 0) return;
    this.#message = this.#join(this.#message ?? blank(), piece);
  }

  #join(fields: Fields, piece: Fields): Fields {
    for (const [name, more] of Object.entries(piece)) fields[name] = this.#joinValue(fields[name], more);
    return fields;
  }

  #joinValue(value: unknown, more: unknown): unknown {
    if (typeof more === "string") return this.#joinText(typeof value === "string" ? value : "", more);
    if (Array.isArray(more)) return this.#joinList(Array.isArray(value) ? value : [], more);
    if (isJsonObject(more)) return this.#join(isJsonObject(value) ? value : blank(), more);
    return more ?? value ?? null;
  }

  #joinText(text: string, more: string): string {
    const kept = more.slice(0, this.#room);
    this.#room -= kept.length;
    this.#truncated ||= kept.length < more.length;
    return text + kept;
  }

  #joinList(list: unknown[], pieces: unknown[]): unknown[] {
    for (const piece of pieces) {
      const { index, ...rest } = isJsonObject(piece) ? piece : {};
      const known = typeof index === "number" && list[index] !== undefined;
      list[known ? index : list.length] = this.#joinValue(known ? list[index] : undefined, isJsonObject(piece) ? rest : piece);
    }
    return list;
  }
}

/** Without a prototype, so that a provider's field named `__proto__` is an ordinary field. */
function blank(): Fields {
  return Object.create(null);
}

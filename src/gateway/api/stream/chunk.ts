/** Writes the lines of a streamed answer: `data:` lines with our own JSON, so that a provider's text cannot end a line. */
import { errorBody, type GatewayError } from "../../../kernel/errors.ts";
import type { FinishReason } from "../../providers/provider.ts";
import type { Logprobs } from "../response/logprobs.ts";
import { usageText, type BilledUsage } from "../response/usage-body.ts";

export interface ChunkFacts {
  /** The generation's id; the same in all chunks. */
  id: string;
  /** Unix seconds; the same in all chunks. */
  created: number;
  /** The id of the model that serves. */
  model: string;
  /** The client requested the usage chunk; all others then carry `usage: null`. */
  includeUsage: boolean;
}

export const doneLine = "data: [DONE]\n\n";
/**
 * Keeps proxies from closing a quiet stream; every client ignores it. No empty line follows it, because that would end an event: some
 * packages in use take a comment with an empty line for an event without data, and fail to parse it.
 */
export const commentLine = ": keep-alive\n";

/** After a stream has started every failure has the type `api_error`. */
export function errorLine(error: GatewayError): string {
  return `data: ${JSON.stringify(errorBody(error))}\n\n`;
}

/** The chunks of one stream. Each endpoint writes its pieces in its own form. The text that all chunks share is built once. */
export abstract class ChunkWriter {
  /** To the beginning of the first choice. */
  protected readonly prefix: string;
  /** From the end of the choice's fields. */
  protected readonly suffix: string;
  readonly #includeUsage: boolean;

  constructor(object: string, { id, created, model, includeUsage }: ChunkFacts) {
    const common = JSON.stringify({ id, object, created, model });
    this.prefix = `data: ${common.slice(0, -1)},"choices":[`;
    this.suffix = includeUsage ? '}],"usage":null}\n\n' : "}]}\n\n";
    this.#includeUsage = includeUsage;
  }

  /** The lines before the first piece; empty: none. */
  abstract begin(): string;

  /** @param delta in the form of a chat completion's, with content. @returns empty if this form has no place for it */
  abstract delta(delta: Record<string, unknown>, logprobs: Logprobs | null): string;

  abstract finish(reason: FinishReason): string;

  /** Empty if the client did not request usage. */
  usage(usage: BilledUsage): string {
    return this.#includeUsage ? `${this.prefix}],"usage":${usageText(usage)}}\n\n` : "";
  }
}

/** The chunks of a chat completion. */
export class ChatChunkWriter extends ChunkWriter {
  readonly #deltaPrefix: string;
  /** The suffix of a delta that is not the last and has no probabilities, as almost all. */
  readonly #plainSuffix: string;

  constructor(facts: ChunkFacts) {
    super("chat.completion.chunk", facts);
    this.#deltaPrefix = `${this.prefix}{"index":0,"delta":`;
    this.#plainSuffix = `,"logprobs":null,"finish_reason":null${this.suffix}`;
  }

  begin(): string {
    return this.delta({ role: "assistant", content: "", refusal: null }, null);
  }

  delta(delta: Record<string, unknown>, logprobs: Logprobs | null): string {
    const begun = this.#deltaPrefix + JSON.stringify(delta);
    if (logprobs === null) return begun + this.#plainSuffix;
    return `${begun},"logprobs":${JSON.stringify(logprobs)},"finish_reason":null${this.suffix}`;
  }

  finish(reason: FinishReason): string {
    return `${this.#deltaPrefix}{},"logprobs":null,"finish_reason":"${reason}"${this.suffix}`;
  }
}

/** Writes the lines of a streamed answer: `data:` lines with our own JSON, so that a provider's text cannot end a line. */
import { errorBody, type GatewayError } from "../../../kernel/errors.ts";
import type { Usage } from "../../models/model.ts";
import type { FinishReason } from "../../providers/provider.ts";
import type { Logprobs } from "../response/logprobs.ts";
import { usageBody } from "../response/usage-body.ts";

export interface ChunkFacts {
  /** The generation's id; the same in all chunks. */
  id: string;
  /** Unix seconds; the same in all chunks. */
  created: number;
  /** The model's id in the catalog. */
  model: string;
  /** The client requested the usage chunk; all others then carry `usage: null`. */
  includeUsage: boolean;
}

export const doneLine = "data: [DONE]\n\n";
/** Keeps proxies from closing a quiet stream; every client ignores it. */
export const commentLine = ": keep-alive\n\n";

export class ChunkWriter {
  /** The text that all chunks of a stream share is built once. */
  readonly #prefix: string;
  readonly #deltaPrefix: string;
  readonly #deltaSuffix: string;
  /** The suffix of a delta that is not the last and has no probabilities, as almost all. */
  readonly #plainSuffix: string;
  readonly #facts: ChunkFacts;

  constructor(facts: ChunkFacts) {
    const { id, created, model, includeUsage } = facts;
    const common = JSON.stringify({ id, object: "chat.completion.chunk", created, model });
    this.#prefix = `data: ${common.slice(0, -1)},"choices":[`;
    this.#deltaPrefix = `${this.#prefix}{"index":0,"delta":`;
    this.#deltaSuffix = includeUsage ? '}],"usage":null}\n\n' : "}]}\n\n";
    this.#plainSuffix = `,"logprobs":null,"finish_reason":null${this.#deltaSuffix}`;
    this.#facts = facts;
  }

  delta(delta: Record<string, unknown>, finishReason: FinishReason | null = null, logprobs: Logprobs | null = null): string {
    const begun = this.#deltaPrefix + JSON.stringify(delta);
    if (finishReason === null && logprobs === null) return begun + this.#plainSuffix;
    return `${begun},"logprobs":${JSON.stringify(logprobs)},"finish_reason":${JSON.stringify(finishReason)}${this.#deltaSuffix}`;
  }

  /** Empty if the client did not request usage. */
  usage(usage: Usage): string {
    return this.#facts.includeUsage ? `${this.#prefix}],"usage":${JSON.stringify(usageBody(usage))}}\n\n` : "";
  }

  /** After a stream has started every failure has the type `api_error`. */
  error(error: GatewayError): string {
    return `data: ${JSON.stringify(errorBody(error))}\n\n`;
  }
}

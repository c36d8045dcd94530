/** The lines of a streamed answer. Only `data:` lines of our own JSON: nothing that a provider sends can end a line. */
import { errorBody, type GatewayError } from "../../../kernel/errors.ts";
import type { Usage } from "../../models/model.ts";
import type { FinishReason } from "../../providers/provider.ts";
import type { Logprobs } from "../response/logprobs.ts";
import { usageBody } from "../response/usage-body.ts";

export interface ChunkFacts {
  /** The generation's id: one for all chunks. */
  id: string;
  /** Unix seconds: one for all chunks. */
  created: number;
  /** The catalog's id. */
  model: string;
  /** The client asked for the usage chunk; all others then carry `usage: null`. */
  includeUsage: boolean;
}

export const doneLine = "data: [DONE]\n\n";
/** Keeps proxies from taking a quiet stream for a dead one; every client passes over it. */
export const commentLine = ": keep-alive\n\n";

export class ChunkWriter {
  /** What all chunks of a stream have in common is written once. */
  readonly #prefix: string;
  readonly #deltaPrefix: string;
  readonly #deltaSuffix: string;
  /** Of a delta that is neither the last one nor has probabilities, as almost all are. */
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

  /** Empty where the client did not ask. */
  usage(usage: Usage): string {
    return this.#facts.includeUsage ? `${this.#prefix}],"usage":${JSON.stringify(usageBody(usage))}}\n\n` : "";
  }

  /** The type is `api_error` for every failure of a stream that has started. */
  error(error: GatewayError): string {
    return `data: ${JSON.stringify(errorBody(error))}\n\n`;
  }
}

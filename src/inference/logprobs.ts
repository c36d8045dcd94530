/** Log probabilities in the official form, whatever a provider leaves out of it: SDKs read both lists and every token's parts. */
import { isJsonObject } from "./json-body.ts";

interface Alternative {
  token: string;
  logprob: number;
  /** UTF-8 of the token; null: the provider does not tell. */
  bytes: number[] | null;
}

interface TokenLogprob extends Alternative {
  top_logprobs: Alternative[];
}

export interface Logprobs {
  content: TokenLogprob[] | null;
  refusal: TokenLogprob[] | null;
}

/** null: there are none. */
export function logprobsBody(told: unknown): Logprobs | null {
  if (!isJsonObject(told)) return null;
  const logprobs = { content: tokens(told["content"]), refusal: tokens(told["refusal"]) };
  return logprobs.content === null && logprobs.refusal === null ? null : logprobs;
}

function tokens(told: unknown): TokenLogprob[] | null {
  if (!Array.isArray(told)) return null;
  return told.filter(isJsonObject).map((one) => {
    const others: unknown[] = Array.isArray(one["top_logprobs"]) ? one["top_logprobs"] : [];
    return { ...alternative(one), top_logprobs: others.filter(isJsonObject).map(alternative) };
  });
}

function alternative(told: Record<string, unknown>): Alternative {
  const { token, logprob, bytes } = told;
  return {
    token: typeof token === "string" ? token : "",
    logprob: typeof logprob === "number" ? logprob : 0,
    bytes: Array.isArray(bytes) ? bytes.filter((byte) => typeof byte === "number") : null,
  };
}

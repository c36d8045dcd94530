/** Log probabilities in the official form. SDKs read both lists and every part of a token, so fields that a provider omits are filled in. */
import { Type, type Static } from "@sinclair/typebox";
import { isJsonObject } from "../../../http/json-object.ts";

const alternativeFields = {
  token: Type.String({ description: "The token's text" }),
  logprob: Type.Number({ description: "Natural logarithm of its probability" }),
  bytes: Type.Union([Type.Array(Type.Integer()), Type.Null()], {
    description: "The token in UTF-8; null if the provider does not send it",
  }),
};
const Alternative = Type.Object(alternativeFields);
type Alternative = Static<typeof Alternative>;

const TokenLogprob = Type.Object({
  ...alternativeFields,
  top_logprobs: Type.Array(Alternative, { description: "The likeliest tokens at this position" }),
});
type TokenLogprob = Static<typeof TokenLogprob>;

const tokensOf = (description: string) => Type.Union([Type.Array(TokenLogprob), Type.Null()], { description });

export const Logprobs = Type.Object({
  content: tokensOf("The probabilities of the answer's text, token by token"),
  refusal: tokensOf("The probabilities of the refusal's text, token by token"),
});
export type Logprobs = Static<typeof Logprobs>;

/** null: the provider sent none. */
export function logprobsBody(reported: unknown): Logprobs | null {
  if (!isJsonObject(reported)) return null;
  const logprobs = { content: tokens(reported["content"]), refusal: tokens(reported["refusal"]) };
  return logprobs.content?.length || logprobs.refusal?.length ? logprobs : null;
}

function tokens(reported: unknown): TokenLogprob[] | null {
  if (!Array.isArray(reported)) return null;
  return reported.filter(isJsonObject).map((one) => {
    const others: unknown[] = Array.isArray(one["top_logprobs"]) ? one["top_logprobs"] : [];
    return { ...alternative(one), top_logprobs: others.filter(isJsonObject).map(alternative) };
  });
}

function alternative(reported: Record<string, unknown>): Alternative {
  const { token, logprob, bytes } = reported;
  return {
    token: typeof token === "string" ? token : "",
    logprob: typeof logprob === "number" ? logprob : 0,
    bytes: Array.isArray(bytes) && bytes.every(isWhole) ? bytes : null,
  };
}

function isWhole(byte: unknown): byte is number {
  return Number.isInteger(byte);
}

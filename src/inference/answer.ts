/** A whole answer in the official form. */
import type { Usage } from "../models/model.ts";
import type { Answer, FinishReason } from "../providers/provider.ts";
import { logprobsBody, type Logprobs } from "./logprobs.ts";
import { usageBody, type UsageBody } from "./usage-body.ts";

export interface CompletionFacts {
  /** The generation's id. */
  id: string;
  /** Unix seconds. */
  created: number;
  /** The catalog's id: what the client asked for. */
  model: string;
  /** What is charged. */
  usage: Usage;
}

export interface CompletionBody {
  id: string;
  object: "chat.completion";
  created: number;
  model: string;
  choices: [{ index: 0; message: Answer["message"]; logprobs: Logprobs | null; finish_reason: FinishReason }];
  usage: UsageBody;
}

export function completionBody(
  { message, finishReason, logprobs }: Answer,
  { usage, ...facts }: CompletionFacts,
): CompletionBody {
  return {
    id: facts.id,
    object: "chat.completion",
    created: facts.created,
    model: facts.model,
    choices: [{ index: 0, message, logprobs: logprobsBody(logprobs), finish_reason: finishReason }],
    usage: usageBody(usage),
  };
}

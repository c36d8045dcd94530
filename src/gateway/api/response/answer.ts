/** A whole answer in the official form. */
import { Type, type Static } from "@sinclair/typebox";
import type { Usage } from "../../models/model.ts";
import { FinishReason, type WholeAnswer } from "../../providers/provider.ts";
import { Logprobs, logprobsBody } from "./logprobs.ts";
import { MessageBody, messageBody } from "./message-body.ts";
import { UsageBody, usageBody } from "./usage-body.ts";

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

/** What a whole answer and each chunk of a streamed one begin with. */
export const commonAnswerFields = {
  id: Type.String({ pattern: "^gen-[a-z2-7]{26}$", description: "The generation's id, the same as in `X-Generation-Id`" }),
  created: Type.Integer({ description: "When the request was accepted, in Unix seconds" }),
  model: Type.String({ description: "The id of the model, as it was asked for" }),
};

const Choice = Type.Object({
  index: Type.Literal(0, { description: "There is one choice" }),
  message: Type.Object(MessageBody.properties, { description: "What the model says" }),
  logprobs: Type.Union([Logprobs, Type.Null()], { description: "Log probabilities, where they were asked for" }),
  finish_reason: Type.Union([FinishReason], { description: "Why the answer ends" }),
});

export const CompletionBody = Type.Object({
  ...commonAnswerFields,
  object: Type.Literal("chat.completion", { description: "What this is" }),
  choices: Type.Array(Choice, { minItems: 1, maxItems: 1, description: "The answer" }),
  usage: Type.Object(UsageBody.properties, { description: "What is charged" }),
});
export type CompletionBody = Static<typeof CompletionBody>;

export function completionBody(
  { message, finishReason, logprobs }: WholeAnswer,
  { usage, ...facts }: CompletionFacts,
): CompletionBody {
  return {
    id: facts.id,
    object: "chat.completion",
    created: facts.created,
    model: facts.model,
    choices: [{ index: 0, message: messageBody(message), logprobs: logprobsBody(logprobs), finish_reason: finishReason }],
    usage: usageBody(usage),
  };
}

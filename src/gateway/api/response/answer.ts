/** The body of an answer that is not streamed, in the official form. */
import { Type, type Static } from "@sinclair/typebox";
import { FinishReason, type WholeAnswer } from "../../providers/provider.ts";
import { Logprobs, logprobsBody } from "./logprobs.ts";
import { MessageBody, messageBody } from "./message-body.ts";
import { UsageBody, usageText, type BilledUsage } from "./usage-body.ts";

export interface CompletionFacts {
  /** The generation's id. */
  id: string;
  /** Unix seconds. */
  created: number;
  /** The id of the model that served. */
  model: string;
  usage: BilledUsage;
}

/** The fields that full answers and chunks share. */
export const commonAnswerFields = {
  id: Type.String({ pattern: "^gen-[a-z2-7]{26}$", description: "The generation's id, the same as in `X-Generation-Id`" }),
  created: Type.Integer({ description: "When the request was accepted, in Unix seconds" }),
  model: Type.String({ description: "The id of the model that served: with routing it may be another one than the requested" }),
};

const Choice = Type.Object({
  index: Type.Literal(0, { description: "There is one choice" }),
  message: Type.Object(MessageBody.properties, { description: "The model's message" }),
  logprobs: Type.Union([Logprobs, Type.Null()], { description: "Log probabilities, if requested" }),
  finish_reason: Type.Union([FinishReason], { description: "Why the answer ends" }),
});

export const CompletionBody = Type.Object({
  ...commonAnswerFields,
  object: Type.Literal("chat.completion", { description: "The kind of object" }),
  choices: Type.Array(Choice, { minItems: 1, maxItems: 1, description: "The answer" }),
  usage: Type.Object(UsageBody.properties, { description: "The charged usage" }),
});
export type CompletionBody = Static<typeof CompletionBody>;

/**
 * The body as JSON, by the schema above. Only what the model wrote goes through `JSON.stringify`: the rest is made of our own ids and
 * numbers, and writing it out costs half of making an object for it.
 */
export function completionText(
  { message, finishReason, logprobs: reported }: WholeAnswer,
  { id, created, model, usage }: CompletionFacts,
): string {
  const logprobs = logprobsBody(reported);
  return (
    `{"id":"${id}","object":"chat.completion","created":${created},"model":${JSON.stringify(model)},"choices":[{"index":0,` +
    `"message":${JSON.stringify(messageBody(message))},"logprobs":${logprobs === null ? "null" : JSON.stringify(logprobs)},` +
    `"finish_reason":"${finishReason}"}],"usage":${usageText(usage)}}`
  );
}

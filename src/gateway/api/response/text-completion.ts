/** The body of a completion that is not streamed, in the official form. */
import { Type, type Static } from "@sinclair/typebox";
import type { FinishReason, WholeAnswer } from "../../providers/provider.ts";
import { commonAnswerFields, type CompletionFacts } from "./answer.ts";
import { UsageBody, usageBody } from "./usage-body.ts";

/** A completion calls no tools. */
export const TextFinishReason = Type.Union([Type.Literal("stop"), Type.Literal("length"), Type.Literal("content_filter")]);
type TextFinishReason = Static<typeof TextFinishReason>;

const Choice = Type.Object({
  text: Type.String({ description: "The text of the answer, or of the model's refusal" }),
  index: Type.Literal(0, { description: "There is one choice" }),
  logprobs: Type.Null({ description: "Not supported" }),
  finish_reason: Type.Union([TextFinishReason], { description: "Why the answer ends; `content_filter` also for a refusal" }),
});

export const TextCompletionBody = Type.Object({
  ...commonAnswerFields,
  object: Type.Literal("text_completion", { description: "The kind of object" }),
  choices: Type.Array(Choice, { minItems: 1, maxItems: 1, description: "The answer" }),
  usage: Type.Object(UsageBody.properties, { description: "The charged usage" }),
});
export type TextCompletionBody = Static<typeof TextCompletionBody>;

export function textCompletionBody(
  { message, finishReason }: WholeAnswer,
  { id, created, model, usage }: CompletionFacts,
): TextCompletionBody {
  const finish_reason = textFinishReason(finishReason, isRefusal(message));
  const choice = { text: textOf(message), index: 0 as const, logprobs: null, finish_reason };
  return { id, object: "text_completion", created, model, choices: [choice], usage: usageBody(usage) };
}

/** The text of a message or of one delta of it. Its reasoning has no place in a completion. */
export function textOf({ content, refusal }: Record<string, unknown>): string {
  return (typeof content === "string" ? content : "") + (typeof refusal === "string" ? refusal : "");
}

export function isRefusal({ refusal }: Record<string, unknown>): boolean {
  return typeof refusal === "string" && refusal !== "";
}

export function textFinishReason(reason: FinishReason, refused: boolean): TextFinishReason {
  if (refused) return "content_filter";
  return reason === "length" || reason === "content_filter" ? reason : "stop";
}

import { Type, type Static } from "@sinclair/typebox";
import { promptsCountedMax } from "./limits.ts";

const AnyObject = Type.Record(Type.String(), Type.Unknown());

export const PromptView = Type.Object({
  generation_id: Type.String({ description: "The value of the answer's `X-Generation-Id` header" }),
  workspace_id: Type.String({ description: "The workspace of the prompt" }),
  at: Type.String({ description: "When the request was accepted, ISO 8601 in UTC" }),
  messages: Type.Array(AnyObject, { description: "The conversation that was sent to the provider" }),
  answer: Type.Union([AnyObject, Type.Null()], { description: "The model's answer, as far as it was received; null: none" }),
  answer_cut: Type.Boolean({ description: "Whether the answer was longer than the stored part" }),
});
export type PromptView = Static<typeof PromptView>;

/** Deletes the prompt of one generation, or a workspace's prompts before a time. */
export const PromptDeletion = Type.Object({
  id: Type.Optional(Type.String({ pattern: "^gen-[a-z2-7]{26}$", description: "the id of a generation" })),
  before: Type.Optional(
    Type.String({
      pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?Z$",
      description: "a time such as 2026-11-20T00:00:00Z",
    }),
  ),
});

export const PromptsDeleted = Type.Object({ deleted: Type.Integer({ description: "Count of deleted prompts" }) });
export type PromptsDeleted = Static<typeof PromptsDeleted>;

export const PromptCount = Type.Object({
  count: Type.Integer({ description: `How many prompts are stored, counted up to ${promptsCountedMax}` }),
  more: Type.Boolean({ description: "Whether there are more than are counted" }),
  oldest_at: Type.Union([Type.String(), Type.Null()], {
    description: "When the oldest of their requests was accepted, ISO 8601 in UTC; null: none is stored",
  }),
});
export type PromptCount = Static<typeof PromptCount>;

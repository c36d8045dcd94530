import { Type, type Static } from "@sinclair/typebox";

const AnyObject = Type.Record(Type.String(), Type.Unknown());

export const PromptView = Type.Object({
  generation_id: Type.String(),
  workspace_id: Type.String(),
  at: Type.String(),
  /** As they were sent to the provider. */
  messages: Type.Array(AnyObject),
  /** What the model answered, as far as it came; null: nothing. */
  answer: Type.Union([AnyObject, Type.Null()]),
  /** The answer went on beyond what is kept of one. */
  answer_cut: Type.Boolean(),
});
export type PromptView = Static<typeof PromptView>;

/** Either of one generation, or of a workspace before a time. */
export const PromptDeletion = Type.Object({
  id: Type.Optional(Type.String({ pattern: "^gen-[a-z2-7]{26}$", description: "the id of a generation" })),
  before: Type.Optional(
    Type.String({
      pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?Z$",
      description: "a time such as 2026-11-20T00:00:00Z",
    }),
  ),
});

export const PromptsDeleted = Type.Object({ deleted: Type.Integer() });
export type PromptsDeleted = Static<typeof PromptsDeleted>;

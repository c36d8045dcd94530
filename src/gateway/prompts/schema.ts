import { Type, type Static } from "@sinclair/typebox";

const AnyObject = Type.Record(Type.String(), Type.Unknown());

export const PromptView = Type.Object({
  generation_id: Type.String({ description: "What `X-Generation-Id` told the client" }),
  workspace_id: Type.String({ description: "Whose prompt it is" }),
  at: Type.String({ description: "When the request was accepted, ISO 8601 in UTC" }),
  messages: Type.Array(AnyObject, { description: "The conversation, as it was sent to the provider" }),
  answer: Type.Union([AnyObject, Type.Null()], { description: "What the model answered, as far as it came; null: nothing" }),
  answer_cut: Type.Boolean({ description: "Whether the answer went on beyond what is kept of one" }),
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

export const PromptsDeleted = Type.Object({ deleted: Type.Integer({ description: "How many are gone" }) });
export type PromptsDeleted = Static<typeof PromptsDeleted>;

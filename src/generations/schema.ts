import { Type, type Static } from "@sinclair/typebox";

const IntegerOrNull = Type.Union([Type.Integer(), Type.Null()]);

export const GenerationView = Type.Object({
  generation_id: Type.String(),
  request_id: Type.String(),
  workspace_id: Type.String(),
  key_id: Type.String(),
  model: Type.String(),
  provider: Type.String(),
  status: Type.Integer(),
  code: Type.Union([Type.String(), Type.Null()]),
  streamed: Type.Boolean(),
  prompt_tokens: Type.Integer(),
  cached_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  reserved_usd: Type.String(),
  cost_usd: Type.String(),
  usage_estimated: Type.Boolean(),
  at: Type.String(),
  first_token_ms: IntegerOrNull,
  duration_ms: Type.Integer(),
});
export type GenerationView = Static<typeof GenerationView>;

import { Type, type Static } from "@sinclair/typebox";

const text = (description: string) => Type.String({ description });
const tokens = (description: string) => Type.Integer({ minimum: 0, description });

export const GenerationView = Type.Object({
  generation_id: text("What `X-Generation-Id` told the client"),
  request_id: text("What `X-Request-Id` told the client"),
  workspace_id: text("Whose credit paid"),
  key_id: text("The key of the request"),
  model: text("The model that was asked for"),
  provider: text("Who was called last; `none` where nobody was"),
  status: Type.Integer({ description: "The HTTP status of the answer; 499 where the client had left" }),
  code: Type.Union([Type.String(), Type.Null()], { description: "The code of the error; null: there was none" }),
  streamed: Type.Boolean({ description: "Whether a stream was asked for" }),
  prompt_tokens: tokens("Tokens of the request"),
  cached_tokens: tokens("Of the request's tokens: read from the provider's cache"),
  completion_tokens: tokens("Tokens of the answer"),
  reserved_usd: text("What was set aside before the call, in USD with nine decimals"),
  cost_usd: text("What was charged, in USD with nine decimals"),
  usage_estimated: Type.Boolean({ description: "Whether the tokens were counted here, because the provider did not tell" }),
  at: text("When the request was accepted, ISO 8601 in UTC"),
  first_token_ms: Type.Union([Type.Integer(), Type.Null()], {
    description: "From acceptance to the first text of the answer, in milliseconds; null: there was none",
  }),
  duration_ms: Type.Integer({ description: "From acceptance to the end, in milliseconds" }),
});
export type GenerationView = Static<typeof GenerationView>;

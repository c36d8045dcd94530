/**
 * Views of the request log: what a client of the control API sees of a generation, in a list and with all its details. Amounts are decimal
 * texts in USD; the descriptions of the fields are those of the OpenAPI description.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Caller } from "../../accounts/keys/store.ts";
import { isoTime } from "../../kernel/clock.ts";
import { isMemberCaller } from "../../kernel/ids.ts";
import { formatUsd } from "../../kernel/money.ts";
import { RouteAttempt } from "../journal/settlement.ts";
import type { GenerationRow } from "./store.ts";

const text = (description: string) => Type.String({ description });
const tokens = (description: string) => Type.Integer({ minimum: 0, description });

export const GenerationView = Type.Object({
  generation_id: text("The value of the answer's `X-Generation-Id` header"),
  request_id: text("The value of the answer's `X-Request-Id` header"),
  workspace_id: text("The workspace whose credit paid"),
  key_id: Type.Union([Type.String(), Type.Null()], {
    description: "The key of the request; null: a member sent it from the Workbench",
  }),
  key_name: Type.Union([Type.String(), Type.Null()], { description: "The key's present name; null: without a key" }),
  member: Type.Union([Type.String(), Type.Null()], {
    description: "E-mail address of the member who sent it from the Workbench, or who owns the key; null: the key is unknown",
  }),
  endpoint: Type.Union([Type.Literal("chat"), Type.Literal("completions"), Type.Literal("embeddings")], {
    description: "The endpoint of the request; `chat` also if the gateway died and it is not known",
  }),
  model: text("The model that answered or was called last; without a call the requested model"),
  requested_model: Type.Optional(text("The requested model, where it is not `model`")),
  provider: text("The provider that was called last; `none`: no provider was called"),
  status: Type.Integer({ description: "The HTTP status of the answer; 499: the client disconnected" }),
  code: Type.Union([Type.String(), Type.Null()], { description: "The code of the error; null: no error" }),
  streamed: Type.Boolean({ description: "Whether a stream was requested" }),
  prompt_tokens: tokens("Tokens of the request"),
  cached_tokens: tokens("The part of the request's tokens that was read from the provider's cache"),
  cache_write_tokens: tokens("The part of the request's tokens that was written to the provider's cache"),
  completion_tokens: tokens("Tokens of the answer"),
  reasoning_tokens: tokens("The part of the answer's tokens that was spent on reasoning"),
  tier_above_tokens: Type.Union([Type.Integer(), Type.Null()], {
    description: "The bound of the price tier that the request's tokens passed; null: the base price",
  }),
  reserved_usd: text("The amount reserved before the call, in USD with nine decimals"),
  cost_usd: text("The amount charged, in USD with nine decimals"),
  own_key: Type.Boolean({ description: "Whether the workspace's own provider key served, which its provider bills" }),
  list_cost_usd: Type.Union([Type.String(), Type.Null()], {
    description: "What a call with an own key would have cost at list prices, in USD with nine decimals; null: no own key",
  }),
  usage_estimated: Type.Boolean({
    description: "Whether the gateway counted the tokens, because the provider did not report them",
  }),
  at: text("When the request was accepted, ISO 8601 in UTC"),
  first_token_ms: Type.Union([Type.Integer(), Type.Null()], {
    description: "From acceptance to the first text of the answer, in milliseconds; null: the answer had no text",
  }),
  duration_ms: Type.Integer({ description: "From acceptance to the end, in milliseconds" }),
  attempts: Type.Optional(Type.Array(RouteAttempt, { description: "The calls of providers, in order. Only with routing on" })),
});
export type GenerationView = Static<typeof GenerationView>;

export const LogView = Type.Object({
  data: Type.Array(GenerationView, { description: "What was found" }),
  next: Type.Union([Type.String(), Type.Null()], { description: "The value of `before` for older ones; null: there are none" }),
  searched: Type.Union([Type.Integer(), Type.Null()], {
    description:
      "With `status` or `code`, and with `model` for the requests of a key or a member: how many generations were read to find them, newest first, at most 3,000; null: without these filters",
  }),
});
export type LogView = Static<typeof LogView>;

const PriceLine = Type.Object({
  part: Type.Union([Type.Literal("input"), Type.Literal("cache_read"), Type.Literal("cache_write"), Type.Literal("output")], {
    description: "The tokens that it prices",
  }),
  tokens: tokens("How many"),
  usd_per_million: text("The price of a million of them, in USD"),
  exact_usd: text("The cost of them, in USD with twelve decimals"),
});
export type PriceLine = Static<typeof PriceLine>;

/** One generation with all that is known of it. */
export const GenerationDetail = Type.Composite([
  GenerationView,
  Type.Object({
    outcome: Type.Union([Type.Literal("settled"), Type.Literal("unknown"), Type.Literal("expired")], {
      description: "`settled`: it ended; `unknown` and `expired`: its gateway died, and it is charged nothing",
    }),
    price_lines: Type.Union([Type.Array(PriceLine), Type.Null()], {
      description:
        "The computation of `exact_cost_usd`, or of `list_cost_usd` with an own key; null: the catalog's present prices do not give it",
    }),
    exact_cost_usd: text("The true cost before it was rounded half up, in USD with twelve decimals"),
    uncharged_usd: text(
      "The part of the true cost above the reserved amount, which the service bears, in USD with nine decimals",
    ),
    prompt_stored: Type.Boolean({ description: "Whether the prompt is stored" }),
  }),
]);
export type GenerationDetail = Static<typeof GenerationDetail>;

/** @param caller undefined: it is unknown */
export function viewGeneration(row: GenerationRow, caller: Caller | undefined): GenerationView {
  return {
    generation_id: row.generation,
    request_id: row.request,
    workspace_id: row.workspace,
    key_id: isMemberCaller(row.key) ? null : row.key,
    key_name: caller?.keyName ?? null,
    member: caller?.email ?? null,
    endpoint: row.endpoint ?? "chat",
    model: row.model,
    provider: row.provider,
    status: row.status,
    code: row.code,
    streamed: row.streamed,
    prompt_tokens: row.promptTokens,
    cached_tokens: row.cachedTokens,
    cache_write_tokens: row.cacheWriteTokens ?? 0,
    completion_tokens: row.completionTokens,
    reasoning_tokens: row.reasoningTokens ?? 0,
    tier_above_tokens: row.tierAboveTokens,
    reserved_usd: formatUsd(row.reserved),
    cost_usd: formatUsd(row.cost),
    own_key: row.ownKey,
    list_cost_usd: row.listCost === null ? null : formatUsd(row.listCost),
    usage_estimated: row.usageEstimated,
    at: isoTime(row.at.getTime()),
    first_token_ms: row.firstTokenMs,
    duration_ms: row.durationMs,
    ...(row.routing && routingView(row.routing)),
  };
}

function routingView({ requested, attempts }: NonNullable<GenerationRow["routing"]>): Partial<GenerationView> {
  return { ...(requested !== null && { requested_model: requested }), attempts };
}

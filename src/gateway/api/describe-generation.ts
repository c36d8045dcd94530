/** GET /generation: what one request of the calling key came to. An addition to the format, for who lost an answer or its usage. */
import { Type, type Static } from "@sinclair/typebox";
import { requestTarget } from "../../http/request-target.ts";
import { isoTime } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/errors.ts";
import { jsonResponse } from "../../kernel/json-response.ts";
import { usdAsJsonNumber } from "../../kernel/money.ts";
import type { GenerationRow } from "../generations/store.ts";
import { authenticate } from "./authenticate.ts";
import type { Gateway } from "./gateway.ts";

const tokens = (description: string) => Type.Integer({ minimum: 0, description });
const msOrNull = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description });

const GenerationDescription = Type.Object({
  id: Type.String({ description: "The id, as in the answer's `X-Generation-Id`" }),
  model: Type.String({ description: "The model that answered or was called last; without a call the requested model" }),
  provider_name: Type.String({ description: "The provider that was called last; `none`: no provider was called" }),
  endpoint: Type.Union([Type.Literal("chat"), Type.Literal("completions"), Type.Literal("embeddings")], {
    description: "The endpoint of the request",
  }),
  streamed: Type.Boolean({ description: "Whether a stream was requested" }),
  created_at: Type.String({ description: "When the request was accepted, ISO 8601 in UTC" }),
  status: Type.Integer({ description: "The HTTP status of the answer; 499: the client disconnected" }),
  code: Type.Union([Type.String(), Type.Null()], { description: "The code of the error; null: no error" }),
  cancelled: Type.Boolean({ description: "Whether the client disconnected before the end" }),
  tokens_prompt: tokens("Tokens of the request"),
  tokens_completion: tokens("Tokens of the answer"),
  native_tokens_cached: tokens("The part of the request's tokens that was read from the provider's cache"),
  native_tokens_reasoning: tokens("The part of the answer's tokens that was spent on reasoning"),
  usage_estimated: Type.Boolean({
    description: "Whether the gateway counted the tokens, because the provider did not report them",
  }),
  total_cost: Type.Number({ description: "The amount charged, in USD" }),
  is_byok: Type.Boolean({ description: "Whether the workspace's own provider key served, which its provider bills" }),
  latency: msOrNull("Milliseconds from acceptance to the first text of the answer; null: the answer had no text"),
  generation_time: msOrNull("Milliseconds from the first text to the end; null: the answer had no text"),
});

export const GenerationBody = Type.Object({
  data: Type.Object(GenerationDescription.properties, { description: "The ended generation" }),
});

/** @throws GatewayError invalid_request, and billing_unavailable while the log cannot be read */
export async function describeGeneration(request: Request, gateway: Gateway): Promise<Response> {
  const { record } = await authenticate(request, gateway);
  const generation = readId(requestTarget(request).query);
  const row = /^gen-[a-z2-7]{26}$/.test(generation) ? await read({ key: record.id, generation }, gateway) : null;
  const headers = { "cache-control": "no-store" };
  if (row === null) return jsonResponse({ detail: "Not Found" }, { status: 404, headers });
  return jsonResponse({ data: viewOf(row) }, { headers });
}

function readId(query: URLSearchParams): string {
  const refuse = (param: string, message: string) => new GatewayError("invalid_request", { message, param });
  for (const param of query.keys()) if (param !== "id") throw refuse(param, `There is no parameter "${param}": id is possible`);
  const [id, second] = query.getAll("id");
  if (id === undefined) throw refuse("id", 'The parameter "id" is missing: it takes the value of X-Generation-Id');
  if (second !== undefined) throw refuse("id", 'The parameter "id" is given twice');
  return id;
}

async function read(asked: { key: string; generation: string }, gateway: Gateway): Promise<GenerationRow | null> {
  try {
    return await gateway.generation(asked);
  } catch (error) {
    const message = "The log cannot be read at present; try again shortly";
    throw new GatewayError("billing_unavailable", { message, cause: error });
  }
}

function viewOf(row: GenerationRow): Static<typeof GenerationDescription> {
  return {
    id: row.generation,
    model: row.model,
    provider_name: row.provider,
    endpoint: row.endpoint ?? "chat",
    streamed: row.streamed,
    created_at: isoTime(row.at.getTime()),
    status: row.status,
    code: row.code,
    cancelled: row.status === 499,
    tokens_prompt: row.promptTokens,
    tokens_completion: row.completionTokens,
    native_tokens_cached: row.cachedTokens,
    native_tokens_reasoning: row.reasoningTokens ?? 0,
    usage_estimated: row.usageEstimated,
    total_cost: usdAsJsonNumber(row.cost),
    is_byok: row.ownKey,
    latency: row.firstTokenMs,
    generation_time: row.firstTokenMs === null ? null : row.durationMs - row.firstTokenMs,
  };
}

/**
 * POST /messages/count_tokens and /responses/input_tokens: how many tokens a prompt has, which agents ask before they send it. It costs
 * nothing, leaves no row in the log and does not count as a request, so it has a bound of its own: agents send some dozens at once. The body
 * is that of a request to the API, which may leave out the bound on its answer.
 * The count is the gateway's own estimate, and the answer says so. No provider is called, so nothing here can make a route look unhealthy.
 */
import { Type, type Static } from "@sinclair/typebox";
import { CallRateLimiter } from "../../accounts/quotas/call-rate-limiter.ts";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/errors.ts";
import { jsonResponse } from "../../kernel/json.ts";
import { LimitReachedError } from "../../accounts/errors.ts";
import type { Caller } from "../admission/message.ts";
import { tokenCountsPerMinuteMax } from "../limits.ts";
import { nearestModel, unavailableMessage } from "../models/availability.ts";
import { retryHeaders } from "./answer/response.ts";
import { authenticate, authenticateEither } from "./authenticate.ts";
import type { Gateway } from "./gateway.ts";
import { messagesFormat } from "./messages/request.ts";
import { modelNotFound } from "./models.ts";
import { checkBody } from "./pipeline.ts";
import { holderOf, readBody } from "./request/body.ts";
import type { RequestFormat } from "./request/chat-request.ts";
import { responsesFormat } from "./responses/request.ts";

export const TokenCountBody = Type.Object({
  input_tokens: Type.Integer({ minimum: 0, description: "Tokens of the prompt, with its tools" }),
});

export const InputTokensBody = Type.Object({
  object: Type.Literal("response.input_tokens", { description: "The kind of object" }),
  ...TokenCountBody.properties,
});

/** For Messages. @throws GatewayError with the first problem */
export async function countTokens(request: Request, gateway: Gateway): Promise<Response> {
  const caller = await authenticateEither(request, gateway);
  const format = messagesFormat({ version: request.headers.get("anthropic-version"), onlyCounts: true });
  const body: Static<typeof TokenCountBody> = { input_tokens: await countedBody(request, { format, caller }, gateway) };
  return counted(body);
}

/** For Responses. @throws GatewayError with the first problem */
export async function countInputTokens(request: Request, gateway: Gateway): Promise<Response> {
  const caller = await authenticate(request, gateway);
  const input_tokens = await countedBody(request, { format: responsesFormat(gateway.clock), caller }, gateway);
  const body: Static<typeof InputTokensBody> = { object: "response.input_tokens", input_tokens };
  return counted(body);
}

function counted(body: unknown): Response {
  return jsonResponse(body, { headers: { "x-token-count": "estimated", "cache-control": "no-store" } });
}

async function countedBody(
  request: Request,
  { format, caller }: { format: RequestFormat; caller: Caller },
  gateway: Gateway,
): Promise<number> {
  requireRoom(caller, gateway);
  using lease = gateway.bodies.lease(holderOf(caller));
  const { clock, clocks } = gateway;
  const bytes = await readBody(request, { clock, bodyMs: clocks.bodyMs, lease, caller });
  const { chat } = await checkBody(bytes, { format, caller }, gateway);
  requireModel(chat.model, caller, gateway);
  return chat.promptEstimate();
}

/** Counts the counts of each key at this gateway. */
export function tokenCountLimiter(clock: Clock): CallRateLimiter {
  return new CallRateLimiter({ clock, perMinuteDefault: tokenCountsPerMinuteMax });
}

function requireRoom({ record }: Caller, { tokenCounts }: Gateway): void {
  try {
    tokenCounts.count(record.id, null);
  } catch (error) {
    if (!(error instanceof LimitReachedError)) throw error;
    const message = `Too many counts of tokens for this key: it may make ${tokenCountsPerMinuteMax} a minute`;
    throw new GatewayError("rate_limited", { message, headers: retryHeaders(error.retryAfterMs), cause: error });
  }
}

/** @throws GatewayError model_not_found or model_unavailable, as check 4 */
function requireModel(id: string, { record }: Caller, { models }: Gateway): void {
  const model = models.find(id);
  if (model === null) throw modelNotFound(id, nearestModel(id, models.list()));
  const { reason } = models.availability(model, record);
  if (reason !== null) throw new GatewayError("model_unavailable", { param: "model", message: unavailableMessage(id, reason) });
}

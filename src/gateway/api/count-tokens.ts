/**
 * POST /messages/count_tokens and /responses/input_tokens: how many tokens a prompt has, which agents ask before they send it. It costs
 * nothing, leaves no row in the log and does not count as a request, so it has bounds of its own: agents send some dozens at once. The body
 * is that of a request to the API, which may leave out the bound on its answer.
 * The route that would serve first is asked where its API counts prompts for nothing. Otherwise, and for every failure, the answer is the
 * gateway's own estimate, and says so. Such a call changes nothing that is known of routes, and reports nothing about own keys: a server
 * without this endpoint is not unhealthy.
 */
import { Type, type Static } from "@sinclair/typebox";
import { CallRateLimiter } from "../../accounts/quotas/call-rate-limiter.ts";
import { FairSemaphore, type ReleaseSlot } from "../../accounts/quotas/fair-semaphore.ts";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/errors.ts";
import { jsonResponse } from "../../kernel/json.ts";
import { LimitReachedError } from "../../accounts/errors.ts";
import type { Caller } from "../admission/message.ts";
import {
  tokenCountsMax,
  tokenCountsPerKeyMax,
  tokenCountsPerMinuteMax,
  tokenCountsPerWorkspaceMax,
  tokenCountsWaitingMax,
  tokenCountsWaitingPerKeyMax,
  tokenCountsWaitMs,
} from "../limits.ts";
import { nearestModel, unavailableMessage } from "../models/availability.ts";
import type { Candidate } from "../models/candidate.ts";
import { retryHeaders } from "./answer/response.ts";
import { authenticate, authenticateEither } from "./authenticate.ts";
import { planRoute } from "./call/route-plan.ts";
import type { Gateway } from "./gateway.ts";
import { messagesFormat } from "./messages/request.ts";
import { modelNotFound } from "./models.ts";
import { asCaller } from "./refused.ts";
import { checkBody } from "./pipeline.ts";
import { holderOf, readBody } from "./request/body.ts";
import type { CheckedChat, RequestFormat } from "./request/chat-request.ts";
import { responsesFormat } from "./responses/request.ts";

export const TokenCountBody = Type.Object({
  input_tokens: Type.Integer({ minimum: 0, description: "Tokens of the prompt, with its tools" }),
});

export const InputTokensBody = Type.Object({
  object: Type.Literal("response.input_tokens", { description: "The kind of object" }),
  ...TokenCountBody.properties,
});

interface Count {
  tokens: number;
  /** The gateway counted, by its estimate. */
  isEstimated: boolean;
}

/** For Messages. @throws GatewayError with the first problem */
export async function countTokens(request: Request, gateway: Gateway): Promise<Response> {
  const caller = await authenticateEither(request, gateway);
  const format = messagesFormat({ version: request.headers.get("anthropic-version"), onlyCounts: true });
  const count = await asCaller(caller, () => countedBody(request, { format, caller }, gateway));
  const body: Static<typeof TokenCountBody> = { input_tokens: count.tokens };
  return counted(body, count);
}

/** For Responses. @throws GatewayError with the first problem */
export async function countInputTokens(request: Request, gateway: Gateway): Promise<Response> {
  const caller = await authenticate(request, gateway);
  const format = responsesFormat(gateway.clock);
  const count = await asCaller(caller, () => countedBody(request, { format, caller }, gateway));
  const body: Static<typeof InputTokensBody> = { object: "response.input_tokens", input_tokens: count.tokens };
  return counted(body, count);
}

function counted(body: unknown, { isEstimated }: Count): Response {
  const source = isEstimated && { "x-token-count": "estimated" };
  return jsonResponse(body, { headers: { ...source, "cache-control": "no-store" } });
}

async function countedBody(
  request: Request,
  { format, caller }: { format: RequestFormat; caller: Caller },
  gateway: Gateway,
): Promise<Count> {
  requireRoom(caller, gateway);
  using lease = gateway.bodies.lease(holderOf(caller));
  const { clock, clocks } = gateway;
  const bytes = await readBody(request, { clock, bodyMs: clocks.bodyMs, lease, caller });
  const { chat } = await checkBody(bytes, { format, caller }, gateway);
  requireModel(chat.model, caller, gateway);
  const own = await providersCount(chat, caller, gateway);
  return own === null ? { tokens: chat.promptEstimate(), isEstimated: true } : { tokens: own, isEstimated: false };
}

/** null: its API has no count, or gave none. */
async function providersCount(chat: CheckedChat, caller: Caller, gateway: Gateway): Promise<number | null> {
  const first = firstCandidate(chat, caller, gateway);
  if (first === undefined) return null;
  const release = await turnOf(caller, gateway);
  try {
    const body = chat.routing?.bodies.get(first.model.id) ?? chat.body;
    return await gateway.count({ chat: body, route: first.route });
  } finally {
    release();
  }
}

/** The route that would serve the request, among those that the workspace lets see its prompts. */
function firstCandidate(chat: CheckedChat, caller: Caller, { models, health, coolDown }: Gateway): Candidate | undefined {
  const plan = planRoute(chat, { caller, models, measure: (route) => health.measure(route) });
  const model = models.find(chat.model);
  const routes = plan === null && model !== null ? models.usableRoutes(model, caller.record).routes : [];
  const usable = plan?.candidates ?? routes.flatMap((route) => (model === null ? [] : [{ model, route }]));
  return coolDown.preferred(usable)[0];
}

/** Bounds the counts of each key at this gateway. */
export function tokenCountLimits(clock: Clock): Gateway["tokenCounts"] {
  const limits = {
    runningMax: tokenCountsMax,
    runningPerGroupMax: tokenCountsPerWorkspaceMax,
    runningPerHolderMax: tokenCountsPerKeyMax,
    waitingMax: tokenCountsWaitingMax,
    waitingPerHolderMax: tokenCountsWaitingPerKeyMax,
    waitMs: tokenCountsWaitMs,
  };
  const busy = `Too many counts of tokens at once: ${tokenCountsPerKeyMax} of a key run and ${tokenCountsWaitingPerKeyMax} wait`;
  return {
    perMinute: new CallRateLimiter({ clock, perMinuteDefault: tokenCountsPerMinuteMax }),
    turns: new FairSemaphore({ clock, limits, busy }),
  };
}

function requireRoom({ record }: Caller, { tokenCounts }: Gateway): void {
  try {
    tokenCounts.perMinute.count(record.id, null);
  } catch (error) {
    throw rateLimited(error, `Too many counts of tokens for this key: it may make ${tokenCountsPerMinuteMax} a minute`);
  }
}

/** @throws GatewayError rate_limited */
async function turnOf({ record: { id, workspace } }: Caller, { tokenCounts }: Gateway): Promise<ReleaseSlot> {
  try {
    return await tokenCounts.turns.acquire({ group: workspace, member: id });
  } catch (error) {
    throw rateLimited(error);
  }
}

/** @param message absent: the error's own */
function rateLimited(error: unknown, message?: string): unknown {
  if (!(error instanceof LimitReachedError)) return error;
  const headers = retryHeaders(error.retryAfterMs);
  return new GatewayError("rate_limited", { message: message ?? error.message, headers, cause: error });
}

/** @throws GatewayError model_not_found or model_unavailable, as check 4 */
function requireModel(id: string, { record }: Caller, { models }: Gateway): void {
  const model = models.find(id);
  if (model === null) throw modelNotFound(id, nearestModel(id, models.list()));
  const { reason } = models.availability(model, record);
  if (reason !== null)
    throw new GatewayError("model_unavailable", { param: "model", message: unavailableMessage(id, reason), model: id });
}

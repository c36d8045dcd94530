/**
 * The completion of a prompt from top to bottom, in the specification's order of checks. The first problem is answered; until the fifth
 * check has passed, nothing is sent to a provider and nothing is charged.
 * Endpoints differ in how a request is read (`RequestFormat`), which also says how its answer is written (`AnswerFormat`); the Workbench
 * differs in who calls. They share everything else. Checks 3, 4 and 5 are one decision of admission. Made apart, they would let requests
 * that run at once pass a limit that each alone keeps.
 */
import { drainRequest } from "../../http/body.ts";
import { requireMethod } from "../../http/router.ts";
import type { Caller } from "../admission/message.ts";
import { startTrace } from "../../kernel/traces.ts";
import { readBody, holderOf } from "./request/body.ts";
import { chatRequestFormat, checkRequest, type CheckedPrompt, type RequestFormat, checkRouted } from "./request/chat-request.ts";
import { completionRequestFormat } from "./request/completion.ts";
import { noSocket, notKept } from "./responses/answer.ts";
import { responsesFormat } from "./responses/request.ts";
import type { CreateStream } from "./answer/response.ts";
import type { Gateway } from "./gateway.ts";
import { generate } from "./generate.ts";
import { authenticate, authenticateEither, requireEarlyAccess } from "./authenticate.ts";
import { messagesFormat } from "./messages/request.ts";
import { refusedTo } from "./refused.ts";
import { readClaim } from "./request/idempotency.ts";
import { replayed } from "./replay.ts";
import { isRoutingOn } from "./request/requested-model.ts";
import { admissionFacts, planRoute } from "./call/route-plan.ts";

interface PromptEndpoint {
  /** null: switched on for every workspace. */
  earlyAccess: "completions" | null;
  requestFormat: RequestFormat;
}

const chatEndpoint: PromptEndpoint = { earlyAccess: null, requestFormat: chatRequestFormat };
const completionEndpoint: PromptEndpoint = { earlyAccess: "completions", requestFormat: completionRequestFormat };

/** @throws GatewayError with the first problem */
export function chatCompletion(request: Request, gateway: Gateway, createStream: CreateStream): Promise<Response> {
  const findCaller = (): Promise<Caller> => authenticate(request, gateway);
  return complete({ request, createStream, endpoint: chatEndpoint, findCaller }, gateway);
}

/**
 * A chat completion whose caller is a member.
 * @param call `findCaller` makes check 1
 * @throws GatewayError with the first problem
 */
export function memberCompletion(call: Omit<CompletionCall, "endpoint">, gateway: Gateway): Promise<Response> {
  return complete({ ...call, endpoint: chatEndpoint }, gateway);
}

/** @throws GatewayError with the first problem */
export function completion(request: Request, gateway: Gateway, createStream: CreateStream): Promise<Response> {
  const findCaller = (): Promise<Caller> => authenticate(request, gateway);
  return complete({ request, createStream, endpoint: completionEndpoint, findCaller }, gateway);
}

/**
 * A response. Agents may ask for a socket first: they are sent back to HTTP.
 * @throws GatewayError with the first problem, MethodNotAllowedError
 */
export async function createResponse(request: Request, gateway: Gateway, createStream: CreateStream): Promise<Response> {
  if (request.method === "GET" && request.headers.get("upgrade")?.toLowerCase() === "websocket") {
    await authenticate(request, gateway);
    return noSocket();
  }
  requireMethod(request, ["POST"]);
  const findCaller = (): Promise<Caller> => authenticate(request, gateway);
  const endpoint = { earlyAccess: null, requestFormat: responsesFormat(gateway.clock) };
  return complete({ request, createStream, endpoint, findCaller }, gateway);
}

/** What would need a response that was kept. @throws GatewayError of check 1 */
export async function keptResponse(request: Request, gateway: Gateway): Promise<Response> {
  await authenticate(request, gateway);
  await drainRequest(request, gateway.clock);
  return notKept();
}

/** POST /messages. @throws GatewayError with the first problem */
export function createMessage(request: Request, gateway: Gateway, createStream: CreateStream): Promise<Response> {
  const requestFormat = messagesFormat({ version: request.headers.get("anthropic-version") });
  const findCaller = (): Promise<Caller> => authenticateEither(request, gateway);
  return complete({ request, createStream, endpoint: { earlyAccess: null, requestFormat }, findCaller }, gateway);
}

interface CompletionCall {
  request: Request;
  createStream: CreateStream;
  endpoint: PromptEndpoint;
  /** Check 1. @throws GatewayError */
  findCaller(): Promise<Caller>;
}

async function complete({ request, createStream, endpoint, findCaller }: CompletionCall, gateway: Gateway): Promise<Response> {
  const { admission, clock, clocks, health, models } = gateway;
  const { earlyAccess, requestFormat } = endpoint;
  const trace = startTrace(request, clock);
  // 1. The key (401), then the platform and the endpoint (403)
  const caller = await findCaller();
  try {
    if (earlyAccess !== null) requireEarlyAccess(caller, earlyAccess);
    // 2. The body's size (413), then its fields (400)
    using lease = gateway.bodies.lease(holderOf(caller));
    const bytes = await readBody(request, { clock, bodyMs: clocks.bodyMs, lease, caller });
    const { chat, format } = await checkBody(bytes, { format: requestFormat, caller }, gateway);
    const claim = readClaim(request, { caller, endpoint: format.endpoint ?? "chat", bytes });
    gateway.inFlight.requireCapacity(caller);
    // 3. Requests per minute (429), 4. the model (404, 503), 5. credit and spend limits (402): one atomic decision
    const plan = planRoute(chat, { caller, models, measure: (route) => health.measure(route) });
    const facts = admissionFacts(chat, plan);
    const decided = admission.admit(caller, claim === null ? facts : { ...facts, claim });
    const orReplayed = (error: unknown): Promise<Response> => replayed(error, { caller, chat, format }, gateway);
    const admitted = await (claim === null ? decided : decided.catch(orReplayed));
    if (admitted instanceof Response) return admitted;
    // 6. The provider (400, 429, 502, 504)
    return await generate({ clientSignal: request.signal, trace, createStream, caller, chat, format, plan, admitted }, gateway);
  } catch (error) {
    throw refusedTo(caller, error);
  }
}

/** Check 2 of a body that was read. @throws GatewayError with the first problem */
export function checkBody(
  bytes: Uint8Array,
  { format, caller }: { format: RequestFormat; caller: Caller },
  { clock, models }: Gateway,
): CheckedPrompt | Promise<CheckedPrompt> {
  if (!isRoutingOn(caller.record)) return checkRequest(bytes, format, models);
  const { find } = models;
  return checkRouted(bytes, format, { find, routing: { find, providers: models.catalog()?.providers ?? null }, clock });
}

/** An accepted request: booked before its provider is called, settled exactly once before its client has the whole answer. */
import type { Admission, Caller } from "../admission/client.ts";
import type { Reservation } from "../credit/reservation.ts";
import { errorResponse, GatewayError } from "../kernel/errors.ts";
import { countRequest } from "../kernel/metrics.ts";
import type { Route } from "../models/model.ts";
import { OpenPrompt } from "../prompts/open-prompt.ts";
import { completionBody } from "./answer.ts";
import { Account } from "./account.ts";
import { chargedUsage, estimatedUsage, noUsage } from "./charged-usage.ts";
import type { CheckedChat } from "./chat.ts";
import type { ClientStream } from "./client-stream.ts";
import { dispatch, type Dispatched } from "./dispatch.ts";
import type { Gateway } from "./gateway.ts";
import { unexpected } from "./handle.ts";
import { generationHeaders, streamHeaders, windowHeaders } from "./headers.ts";
import { relay } from "./stream.ts";
import { estimatedTokens, textBytes } from "./text-bytes.ts";
import type { Attempt } from "./attempts.ts";
import { logUpstreamFailure } from "./upstream-log.ts";
import { streamError, upstreamError } from "./upstream-errors.ts";

export interface Accepted {
  /** The request's signal. */
  gone: AbortSignal;
  toClient: ClientStream;
  caller: Caller;
  chat: CheckedChat;
  admitted: Admission;
}

interface Work extends Accepted {
  account: Account;
  headers: Record<string, string>;
}

/** Answered to nobody: the client has left. The status is the one that nginx made customary for this. */
const clientGone = { status: 499, code: "client_gone" };

/** @throws GatewayError before the provider is called; afterwards every outcome is a Response */
export async function generate(accepted: Accepted, gateway: Gateway): Promise<Response> {
  const account = await openAccount(accepted, gateway);
  const { reservation, window } = accepted.admitted;
  const work: Work = { ...accepted, account, headers: { ...generationHeaders(reservation), ...windowHeaders(window) } };
  try {
    const routes = usableRoutes(work, gateway);
    return await answer(work, await callProvider(work, routes, gateway), gateway);
  } catch (error) {
    return await failure(work, error instanceof GatewayError ? error : unexpected(error, gateway), null);
  }
}

async function openAccount(accepted: Accepted, gateway: Gateway): Promise<Account> {
  const { admitted, chat } = accepted;
  const prompt = openPrompt(accepted, gateway);
  const facts = { fingerprint: admitted.fingerprint, model: chat.model, streamed: chat.streamed, prompt };
  try {
    return await Account.open(admitted.reservation, facts, gateway);
  } catch (error) {
    gateway.admission.giveUp(admitted.reservation);
    throw error;
  }
}

/** null: the workspace stores none of its prompts. */
function openPrompt({ admitted, caller, chat }: Accepted, { prompts }: Gateway): OpenPrompt | null {
  if (!caller.record.promptStorage) return null;
  const { generation, workspace, admittedAt } = admitted.reservation;
  return new OpenPrompt({ generation, workspace, admittedAt, messages: chat.body.messages, bytes: chat.inputTokens }, prompts);
}

/** Those that were priced: a catalog that changed since may serve the model no longer. */
function usableRoutes({ chat, caller }: Work, { models }: Gateway): readonly [Route, ...Route[]] {
  const model = models.find(chat.model);
  const [first, ...others] = model === null ? [] : models.usableRoutes(model, caller.record).routes;
  if (first === undefined) throw new GatewayError("model_unavailable", { param: "model", shouldRetry: true });
  return [first, ...others];
}

function callProvider(work: Work, routes: readonly [Route, ...Route[]], gateway: Gateway): Promise<Dispatched> {
  const { reservation } = work.admitted;
  const { drains, clock, call } = gateway;
  return dispatch({
    reservation,
    chat: work.chat.body,
    streamed: work.chat.streamed,
    routes,
    fallbacks: work.caller.record.fallbacks,
    provide: (providerCall, givenUp) => call(reservation, providerCall, { givenUp, startedAt: work.account.startedAt }),
    gone: work.gone,
    stop: work.account.stop,
    drains,
    clock,
  });
}

async function answer(work: Work, dispatched: Dispatched, gateway: Gateway): Promise<Response> {
  for (const attempt of dispatched.failed) noteFailure(notingOf(work), attempt, gateway);
  switch (dispatched.kind) {
    case "whole":
      return await whole(work, dispatched, gateway);
    case "stream":
      return streamed(work, dispatched, gateway);
    case "failed":
      return await failure(work, upstreamError(dispatched.failure), dispatched.route);
    case "gone":
      await work.account.settle({ ...clientGone, route: dispatched.route, usage: noUsage, estimated: false, firstTokenMs: null });
      return new Response(null, { status: clientGone.status });
  }
}

/** What is to be known of an answer's request when it fails; of a stream, for as long as it is open: hence not the request itself. */
interface Noting {
  reservation: Reservation;
  account: Account;
  gone: AbortSignal;
}

function notingOf({ admitted, account, gone }: Work): Noting {
  return { reservation: admitted.reservation, account, gone };
}

/** What a call that was given up here ends with says nothing of its provider, nor does a fault of the request. */
function noteFailure({ reservation, account, gone }: Noting, { route, failure }: Attempt, { log, health }: Gateway): void {
  logUpstreamFailure({ reservation, route, failure }, log);
  const givenUp = gone.aborted || account.stop.stopped;
  if (!givenUp && failure.code !== "upstream_rejected") health.failed(route);
}

/** After a failed attempt the time that passed is not this route's. */
function timeOf(ms: number | null, failed: readonly Attempt[]): number | null {
  return failed.length === 0 ? ms : null;
}

async function whole(
  work: Work,
  { route, answer, failed }: Extract<Dispatched, { kind: "whole" }>,
  { health }: Gateway,
): Promise<Response> {
  const { account, chat, admitted, headers } = work;
  const completionTokens = estimatedTokens(textBytes(answer.message));
  account.prompt?.take(answer.message);
  const usage = answer.usage ?? estimatedUsage({ told: null, promptTokens: chat.promptEstimate, completionTokens });
  const firstTokenMs = account.elapsedMs();
  health.answered(route, timeOf(firstTokenMs, failed));
  await account.settle({ route, usage, estimated: answer.usage === null, status: 200, code: null, firstTokenMs });
  const facts = { id: admitted.reservation.generation, created: account.created, model: chat.model, usage };
  return Response.json(completionBody(answer, facts), { headers });
}

function streamed(
  work: Work,
  { route, events, quiet, failed }: Extract<Dispatched, { kind: "stream" }>,
  gateway: Gateway,
): Response {
  const { account, chat, admitted, headers, gone, toClient } = work;
  const { promptEstimate } = chat;
  const noting = notingOf(work);
  const body = relay({
    toClient,
    events: account.prompt?.listen(events) ?? events,
    quiet,
    gone,
    stop: account.stop,
    facts: {
      id: admitted.reservation.generation,
      created: account.created,
      model: chat.model,
      includeUsage: chat.includeUsage,
    },
    cancelStopsBilling: route.provider.cancelStopsBilling,
    drains: gateway.drains,
    clock: gateway.clock,
    startedAt: account.startedAt,
    onEnd(outcome) {
      const charged = chargedUsage(outcome, promptEstimate);
      const code = outcome.failure === null ? null : streamError(outcome.failure).code;
      const ending = outcome.how === "client_gone" ? clientGone : { status: 200, code };
      if (outcome.failure !== null) noteFailure(noting, { route, failure: outcome.failure }, gateway);
      else if (outcome.how === "completed") gateway.health.answered(route, timeOf(outcome.firstTokenMs, failed));
      account.settleNow({ ...ending, ...charged, route, firstTokenMs: outcome.firstTokenMs });
      return charged.usage;
    },
  });
  return new Response(body, { headers: { ...streamHeaders, ...headers } });
}

async function failure({ account, headers }: Work, error: GatewayError, route: Route | null): Promise<Response> {
  await account.settle({ route, usage: noUsage, estimated: false, status: error.status, code: error.code, firstTokenMs: null });
  countRequest(error.status, error.code);
  return errorResponse(error, headers);
}

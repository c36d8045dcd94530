/** An accepted request: booked before its provider is called, settled exactly once before its client has the whole answer. */
import type { Admission, Caller } from "../admission/client/client.ts";
import type { Reservation } from "../credit/reservation.ts";
import { errorResponse, GatewayError } from "../../kernel/errors.ts";
import { countRequest } from "../../kernel/metrics.ts";
import type { Model, Route } from "../models/model.ts";
import { jsonAnswer } from "../../kernel/json-answer.ts";
import { PromptRecorder } from "../prompts/prompt-recorder.ts";
import { completionBody } from "./response/answer.ts";
import { GenerationLifecycle } from "./generation-lifecycle.ts";
import { chargedGone, chargedUsage, chargedWhole, noUsage, type UsageBounds } from "./call/charged-usage.ts";
import type { CheckedChat } from "./request/chat.ts";
import type { ClientStream } from "./stream/client-stream.ts";
import { dispatch, type Dispatched } from "./call/dispatch.ts";
import type { Gateway } from "./gateway.ts";
import { internalError } from "./error-boundary.ts";
import { generationHeaders, streamHeaders, windowHeaders } from "./response/headers.ts";
import { mayHideOutput, drainSlotsFor, type AcquireDrainSlot } from "./stream/drain-slots.ts";
import { relay, type StreamOutcome } from "./stream/stream.ts";
import { estimatedTokens, textBytes } from "./request/text-bytes.ts";
import type { Attempt } from "./call/attempts.ts";
import { logUpstreamFailure } from "./call/upstream-log.ts";
import { streamError, upstreamError } from "./response/upstream-errors.ts";
import { usageBounds } from "./call/usage-bounds.ts";

export interface Accepted {
  /** The request's signal. */
  gone: AbortSignal;
  toClient: ClientStream;
  caller: Caller;
  chat: CheckedChat;
  admitted: Admission;
}

/** What may serve a request: at least one route, in order of preference. */
interface Serving {
  model: Model;
  routes: readonly [Route, ...Route[]];
}

interface Work extends Accepted {
  lifecycle: GenerationLifecycle;
  headers: Record<string, string>;
}

interface Served extends Work {
  serving: Serving;
  acquireDrainSlot: AcquireDrainSlot;
}

/** Answered to nobody: the client has left. The status is the one that nginx made customary for this. */
const clientGone = { status: 499, code: "client_gone" };

/** @throws GatewayError before the provider is called; afterwards every outcome is a Response */
export async function generate(accepted: Accepted, gateway: Gateway): Promise<Response> {
  const serving = servingOf(accepted, gateway);
  const lifecycle = await openGeneration(accepted, serving, gateway);
  const { reservation, window } = accepted.admitted;
  const work: Work = { ...accepted, lifecycle, headers: { ...generationHeaders(reservation), ...windowHeaders(window) } };
  try {
    if (serving === null) throw new GatewayError("model_unavailable", { param: "model", shouldRetry: true });
    const { drainLimit, clock } = gateway;
    const acquireDrainSlot = drainSlotsFor({ model: serving.model, workspace: reservation.workspace, drainLimit, clock });
    const served: Served = { ...work, serving, acquireDrainSlot };
    return await answer(served, await callProvider(served, gateway), gateway);
  } catch (error) {
    return await failure(work, error instanceof GatewayError ? error : internalError(error, gateway), null);
  }
}

/** Those that were priced; null: a catalog that changed since may serve the model no longer. */
function servingOf({ chat, caller }: Accepted, { models, coolDown }: Gateway): Serving | null {
  const model = models.find(chat.model);
  if (model === null) return null;
  const [first, ...others] = coolDown.preferred(models.usableRoutes(model, caller.record).routes);
  return first === undefined ? null : { model, routes: [first, ...others] };
}

async function openGeneration(accepted: Accepted, serving: Serving | null, gateway: Gateway): Promise<GenerationLifecycle> {
  const { admitted, chat } = accepted;
  const prompt = openPrompt(accepted, gateway);
  const { model, streamed, promptEstimate } = chat;
  const route = serving?.routes[0] ?? null;
  const facts = { fingerprint: admitted.fingerprint, model, streamed, promptEstimate, route, prompt };
  try {
    return await GenerationLifecycle.open(admitted.reservation, facts, gateway);
  } catch (error) {
    gateway.admission.release(admitted.reservation);
    throw error;
  }
}

/** null: the workspace stores none of its prompts. */
function openPrompt({ admitted, caller, chat }: Accepted, { prompts }: Gateway): PromptRecorder | null {
  if (!caller.record.promptStorage) return null;
  const { generation, workspace, admittedAt } = admitted.reservation;
  return new PromptRecorder(
    { generation, workspace, admittedAt, messages: chat.body.messages, bytes: chat.inputTokens },
    prompts,
  );
}

function callProvider(work: Served, gateway: Gateway): Promise<Dispatched> {
  const { reservation } = work.admitted;
  const { lifecycle, serving } = work;
  const { clock, call } = gateway;
  return dispatch({
    reservation,
    chat: work.chat.body,
    streamed: work.chat.streamed,
    routes: serving.routes,
    fallbacks: work.caller.record.fallbacks,
    provide(providerCall, givenUp, onSent) {
      lifecycle.calling(providerCall.route);
      const sent = (): void => {
        lifecycle.sent();
        onSent();
      };
      return call(reservation, providerCall, { givenUp, onSent: sent, startedAt: lifecycle.startedAt });
    },
    gone: work.gone,
    stop: lifecycle.stop,
    acquireDrainSlot: work.acquireDrainSlot,
    clock,
  });
}

async function answer(work: Served, dispatched: Dispatched, gateway: Gateway): Promise<Response> {
  for (const attempt of dispatched.failed) noteFailure(notingOf(work), attempt, gateway);
  switch (dispatched.kind) {
    case "whole":
      return await whole(work, dispatched, gateway);
    case "stream":
      return streamed(work, dispatched, gateway);
    case "failed":
      return await failure(work, upstreamError(dispatched.failure), dispatched.route);
    case "gone":
      return await gone(work, dispatched, gateway);
  }
}

/** What is to be known of an answer's request when it fails; of a stream, for as long as it is open: hence not the request itself. */
interface Noting {
  reservation: Reservation;
  lifecycle: GenerationLifecycle;
  gone: AbortSignal;
}

function notingOf({ admitted, lifecycle, gone }: Work): Noting {
  return { reservation: admitted.reservation, lifecycle, gone };
}

/** What a call that was given up here ends with says nothing of its provider, nor does a fault of the request. */
function noteFailure({ reservation, lifecycle, gone }: Noting, { route, failure }: Attempt, { log, health }: Gateway): void {
  logUpstreamFailure({ reservation, route, failure }, log);
  const givenUp = gone.aborted || lifecycle.stop.stopped;
  if (!givenUp && failure.code !== "upstream_rejected") health.recordFailure(route);
}

/** After a failed attempt the time that passed is not this route's. */
function timeOf(ms: number | null, failed: readonly Attempt[]): number | null {
  return failed.length === 0 ? ms : null;
}

async function whole(
  work: Served,
  { route, calledAt, answer, failed }: Extract<Dispatched, { kind: "whole" }>,
  { health, speeds, clock }: Gateway,
): Promise<Response> {
  const { lifecycle, chat, admitted, headers } = work;
  lifecycle.prompt?.append(answer.message);
  const produced = estimatedTokens(textBytes(answer.message));
  const { usage, estimated } = chargedWhole(answer.usage, boundsOf(work, route), produced);
  const firstTokenMs = lifecycle.elapsedMs();
  health.recordAnswer(route, timeOf(firstTokenMs, failed));
  if (!estimated) speeds.record(route, { tokens: usage.completionTokens, ms: clock.monotonic() - calledAt });
  await lifecycle.settle({ route, usage, estimated, status: 200, code: null, firstTokenMs });
  const facts = { id: admitted.reservation.generation, created: lifecycle.created, model: chat.model, usage };
  return jsonAnswer(completionBody(answer, facts), { headers });
}

function boundsOf({ serving, chat, admitted }: Served, route: Route): UsageBounds {
  return usageBounds({ model: serving.model, route, chat, maxOutputTokens: admitted.reservation.maxOutputTokens });
}

function streamed(work: Served, dispatched: Extract<Dispatched, { kind: "stream" }>, gateway: Gateway): Response {
  const { route, calledAt, events, quiet, failed } = dispatched;
  const { lifecycle, chat, admitted, headers, gone: signal, toClient, acquireDrainSlot } = work;
  const { generation } = admitted.reservation;
  const { clock, speeds, health } = gateway;
  const bounds = boundsOf(work, route);
  const noting = notingOf(work);
  const body = relay({
    toClient,
    events: lifecycle.prompt?.tap(events) ?? events,
    quiet,
    gone: signal,
    stop: lifecycle.stop,
    facts: { id: generation, created: lifecycle.created, model: chat.model, includeUsage: chat.includeUsage },
    acquireDrainSlot: (finished) => acquireDrainSlot(route, finished),
    clock,
    startedAt: lifecycle.startedAt,
    follow: (soFar) => lifecycle.delivering(() => chargedUsage(soFar(), bounds).usage),
    onEnd(outcome) {
      const ms = clock.monotonic() - calledAt;
      const hides = mayHideOutput(bounds, route);
      // Who hides nothing writes no faster than it is read.
      const likely = speeds.estimateTokens(route, { ms: hides ? ms : ms - outcome.heldUpMs, hides });
      const charged = chargedUsage(outcome, bounds, likely);
      if (isMeasure(outcome, ms)) speeds.record(route, { tokens: charged.usage.completionTokens, ms });
      const code = outcome.failure === null ? null : streamError(outcome.failure).code;
      const ending = outcome.how === "client_gone" ? clientGone : { status: 200, code };
      if (outcome.failure !== null) noteFailure(noting, { route, failure: outcome.failure }, gateway);
      else if (outcome.how === "completed") health.recordAnswer(route, timeOf(outcome.firstTokenMs, failed));
      lifecycle.settleNow({ ...ending, ...charged, route, firstTokenMs: outcome.firstTokenMs });
      return charged.usage;
    },
  });
  return new Response(body, { headers: { ...streamHeaders, ...headers } });
}

/** Counted by its provider, which its client did not hold up: a slow reader must not make a route look slow. */
function isMeasure({ final, usage, heldUpMs }: StreamOutcome, ms: number): boolean {
  return final && usage?.completionTokens != null && heldUpMs * 10 < ms;
}

/** The client left before there was anything to send, and the call was stopped. */
async function gone(work: Served, { route, sentAt }: Extract<Dispatched, { kind: "gone" }>, gateway: Gateway): Promise<Response> {
  const { clock, speeds } = gateway;
  const bounds = boundsOf(work, route);
  const hides = mayHideOutput(bounds, route);
  const likely = sentAt === null ? 0 : speeds.estimateTokens(route, { ms: clock.monotonic() - sentAt, hides });
  const charged = sentAt === null ? { usage: noUsage, estimated: false } : chargedGone(bounds, likely);
  await work.lifecycle.settle({ ...clientGone, ...charged, route, firstTokenMs: null });
  return new Response(null, { status: clientGone.status });
}

async function failure({ lifecycle, headers }: Work, error: GatewayError, route: Route | null): Promise<Response> {
  await lifecycle.settle({ route, usage: noUsage, estimated: false, status: error.status, code: error.code, firstTokenMs: null });
  countRequest(error.status, error.code);
  return errorResponse(error, headers);
}

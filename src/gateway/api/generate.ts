/**
 * Serves an accepted request, whole or as a stream. It is journaled before its provider is called, and settled once before the client has
 * the full answer. From `open` on nothing is thrown to the pipeline: every outcome is a Response, and every path ends in one `settle`.
 * What is charged follows from how the call ended (call/charged-usage.ts): a whole answer by its provider's counts, a client that left by
 * what was produced, a failure by what was delivered. A stream settles in `onEnd`, before its last line.
 * This module only connects the parts. Which candidates may serve is decided in call/route-plan.ts, retries in call/dispatch.ts, the
 * client's pace in answer/relay.ts.
 */
import type { Admission, Caller } from "../admission/message.ts";
import { chatErrors, GatewayError, type EndingErrorCode } from "../../kernel/errors.ts";
import { countRequest } from "../../kernel/metrics.ts";
import { longTexts } from "../../http/long-texts.ts";
import type { TraceStart } from "../../kernel/traces.ts";
import type { Candidate } from "../models/candidate.ts";
import { answerTokens, guessTokens } from "../models/chat-tokens.ts";
import type { Usage } from "../models/model.ts";
import type { WholeAnswer } from "../providers/provider.ts";
import { jsonTextResponse } from "../../kernel/json.ts";
import { AnswerKeeper, mayReplay } from "../prompts/kept-answers.ts";
import { PromptRecorder } from "../prompts/prompt-recorder.ts";
import { signerOf } from "../providers/wire/answers.ts";
import type { AnswerFormat, StreamWriter } from "./answer/answer-format.ts";
import { GenerationLifecycle } from "./lifecycle.ts";
import {
  chargedDisconnect,
  chargedUsage,
  chargedWhole,
  nothingCharged,
  type ChargedUsage,
  type UsageBounds,
  chargedFailure,
  boundsOnceTold,
  usageBounds,
} from "./call/charged-usage.ts";
import { holderOf } from "./request/body.ts";
import type { CheckedChat } from "./request/chat-request.ts";
import { type CreateStream, generationHeaders, routeHeaders, streamHeaders, windowHeaders } from "./answer/response.ts";
import { dispatch, type DispatchResult, type Attempt } from "./call/dispatch.ts";
import type { Gateway } from "./gateway.ts";
import { endingError } from "./error-answer.ts";
import { recordFailure, type FailureContext, nameRejectedField } from "./call/failures.ts";
import { isRoutingOn } from "./request/requested-model.ts";
import { mayHideOutput, drainSlotsFor, type AcquireDrainSlot } from "./answer/drains.ts";
import { relay, type StreamOutcome } from "./answer/relay.ts";
import { streamError, upstreamError } from "./answer/upstream-errors.ts";
import { admittedCandidates, candidateRequest, type Candidates, type RoutePlan } from "./call/route-plan.ts";

interface AcceptedRequest {
  /** The request's signal. */
  clientSignal: AbortSignal;
  trace: TraceStart | null;
  createStream: CreateStream;
  caller: Caller;
  chat: CheckedChat;
  format: AnswerFormat;
  /** null: the request has no routing fields. */
  plan: RoutePlan | null;
  admitted: Admission;
}

interface StartedRequest extends AcceptedRequest {
  /** Gathers the answer that a repeated request gets; null: it gets none. */
  keeper: AnswerKeeper | null;
  lifecycle: GenerationLifecycle;
  headers: Record<string, string>;
}

interface RoutedRequest extends StartedRequest {
  candidates: Candidates;
  acquireDrainSlot: AcquireDrainSlot;
}

/** Recorded when the client has left. The status is the one that nginx uses. */
export const clientGone = { status: 499, code: "client_gone" } as const;

/**
 * Calls the provider and answers.
 * @throws GatewayError before the request is in the journal; afterwards every outcome is a Response
 */
export async function generate(accepted: AcceptedRequest, gateway: Gateway): Promise<Response> {
  const { reservation, window, priced } = accepted.admitted;
  const candidates = admittedCandidates({ ...accepted, priced, amount: reservation.amount }, gateway);
  const lifecycle = await openGeneration(accepted, candidates, gateway);
  const started: StartedRequest = {
    ...accepted,
    keeper: mayReplay(accepted.caller) && reservation.claim ? new AnswerKeeper(accepted.format.wants) : null,
    lifecycle,
    headers: { ...generationHeaders(reservation), ...windowHeaders(window), ...accepted.format.headers?.(reservation) },
  };
  try {
    if (candidates === null) throw new GatewayError("model_unavailable", { param: "model", shouldRetry: true });
    const { drainLimit, clock } = gateway;
    const acquireDrainSlot = drainSlotsFor({ workspace: reservation.workspace, drainLimit, clock });
    const routed: RoutedRequest = { ...started, candidates, acquireDrainSlot };
    return await respond(routed, await callProvider(routed, gateway), gateway);
  } catch (error) {
    return await answerFailure(started, endingError(error, gateway), null);
  }
}

interface FailingRequest extends Pick<StartedRequest, "lifecycle" | "headers"> {
  /** Absent: its errors have the shape of chat completions. */
  format?: Pick<AnswerFormat, "errors">;
}

/** @param charged what is owed although it failed; absent: nothing */
export async function answerFailure(
  { lifecycle, headers, format }: FailingRequest,
  error: GatewayError<EndingErrorCode>,
  candidate: Candidate | null,
  charged: ChargedUsage = nothingCharged,
): Promise<Response> {
  await lifecycle.settle({ ...charged, candidate, status: error.status, code: error.code, error, firstTokenMs: null });
  countRequest(error.status, error.code);
  return (format?.errors ?? chatErrors).response(error, headers, lifecycle.request);
}

function openGeneration(
  accepted: AcceptedRequest,
  candidates: Candidates | null,
  gateway: Gateway,
): Promise<GenerationLifecycle> {
  const { admitted, chat, caller, format, trace } = accepted;
  const prompt = openPrompt(accepted, gateway);
  const { model, streamed, inputTokens } = chat;
  const candidate = candidates?.[0] ?? null;
  const isRouted = isRoutingOn(caller.record);
  const { endpoint } = format;
  const named = endpoint === undefined ? {} : { endpoint };
  const { fingerprint, decision } = admitted;
  const facts = {
    fingerprint,
    decision,
    model,
    streamed,
    promptEstimate: guessTokens(inputTokens),
    candidate,
    isRouted,
    prompt,
    trace,
    ...named,
  };
  return GenerationLifecycle.open(admitted.reservation, facts, gateway);
}

/** null: the workspace does not store prompts. */
function openPrompt({ admitted, caller, chat }: AcceptedRequest, { prompts }: Gateway): PromptRecorder | null {
  if (!caller.record.promptStorage) return null;
  const { generation, workspace, admittedAt } = admitted.reservation;
  const asked = { messages: chat.body.messages, parameters: parametersOf(chat) };
  const { messages, parameters } = chat.body[longTexts]?.restored(asked) ?? asked;
  return new PromptRecorder({ generation, workspace, admittedAt, messages, parameters, bytes: chat.inputTokens }, prompts);
}

/**
 * What the request set besides its conversation, of which the bound of the answer is not in the body. The request of another API, under a
 * symbol, is left out: it is not stored, and would stay in memory until the answer ends.
 */
function parametersOf({ body, maxTokens, outputField }: CheckedChat): Record<string, unknown> {
  const fields = Object.entries(body).filter(([name]) => name !== "model" && name !== "messages");
  return Object.fromEntries(outputField === undefined ? fields : [...fields, ["max_tokens", maxTokens]]);
}

function callProvider(routed: RoutedRequest, gateway: Gateway): Promise<DispatchResult> {
  const { lifecycle, candidates, chat, admitted, format } = routed;
  const { reservation } = admitted;
  const { wants } = format;
  const { clock, call } = gateway;
  return dispatch({
    reservation,
    requestFor: (candidate) => ({ ...candidateRequest(candidate, { chat, reservation }), wants }),
    streamed: chat.streamed,
    candidates,
    fallbacks: routed.caller.record.fallbacks,
    callRoute(providerCall, candidate, { givenUp, onSent }) {
      lifecycle.startCall(candidate);
      lifecycle.trackUsage(() => chargedDisconnect(lifecycle.reported, guessedBounds(routed, candidate), 0).usage);
      const sent = (): void => {
        lifecycle.markSent();
        onSent();
      };
      const answer = call(reservation, providerCall, { givenUp, onSent: sent, startedAt: lifecycle.startedAt });
      lifecycle.noteUnlessSent();
      return answer;
    },
    onUsage: (usage) => lifecycle.noteReported(usage),
    onResent: () => lifecycle.noteResent(),
    onFailed: (failure, candidate) => nameRejectedField(failure, chat, candidate),
    clientSignal: routed.clientSignal,
    stop: lifecycle.stop,
    acquireDrainSlot: routed.acquireDrainSlot,
    clock,
  });
}

function respond(routed: RoutedRequest, dispatched: DispatchResult, gateway: Gateway): Response | Promise<Response> {
  routed.lifecycle.trackFailures(dispatched.failed);
  for (const attempt of dispatched.failed) recordFailure(failureContextOf(routed), attempt, gateway);
  switch (dispatched.kind) {
    case "whole":
      return answerWhole(routed, dispatched, gateway);
    case "stream":
      return answerStream(routed, dispatched, gateway);
    case "failed":
      return answerFailed(routed, dispatched, gateway);
    case "disconnected":
      return answerDisconnected(routed, dispatched, gateway);
  }
}

/** null after a failed attempt: part of the time was spent on another route. */
function latencyOf(ms: number | null, failed: readonly Attempt[]): number | null {
  return failed.length === 0 ? ms : null;
}

async function answerWhole(
  routed: RoutedRequest,
  { candidate, calledAt, answer, failed }: Extract<DispatchResult, { kind: "whole" }>,
  gateway: Gateway,
): Promise<Response> {
  const { lifecycle, format, admitted } = routed;
  const { health, speeds, clock } = gateway;
  const { model, route } = candidate;
  lifecycle.prompt?.append(answer.message);
  const { usage, estimated } = chargedWhole(answer.usage, boundsOf(routed, candidate), () => answerTokens(answer.message));
  const firstTokenMs = lifecycle.elapsedMs();
  health.recordAnswer(route, latencyOf(firstTokenMs, failed));
  if (!estimated) speeds.record(route, { tokens: usage.completionTokens, ms: clock.monotonic() - calledAt });
  await lifecycle.settle({ candidate, usage, estimated, status: 200, code: null, firstTokenMs });
  if (routed.keeper) keepAnswer(routed, { candidate, answer, usage }, gateway);
  const shown = showsCost(routed) ? { ...usage, cost: lifecycle.charge } : usage;
  const { generation: id } = admitted.reservation;
  const facts = { id, created: lifecycle.created, model: model.id, usage: shown, signer: signerOf(route) };
  return jsonTextResponse(format.wholeText(answer, facts), headersOf(routed, candidate));
}

/** In the turn in which it is settled: the ledger has its end later than the queue its answer. */
function keepAnswer(
  { lifecycle, admitted, caller }: Pick<RoutedRequest, "lifecycle" | "admitted" | "caller">,
  { candidate, answer, usage }: { candidate: Candidate; answer: WholeAnswer; usage: Usage },
  { keptAnswers, clock }: Gateway,
): void {
  const { generation, workspace, admittedAt: at } = admitted.reservation;
  const { model, route } = candidate;
  const times = { created: lifecycle.created, completed: Math.floor(clock.now() / 1_000) };
  const facts = { ...times, model: model.id, provider: route.provider.id, signer: signerOf(route) };
  const headers = isRoutingOn(caller.record) ? routeHeaders(candidate) : {};
  keptAnswers.keep({ generation, workspace, at }, { answer, usage, cost: lifecycle.charge.toString(), ...facts, headers });
}

export function showsCost({ chat, caller }: Pick<AcceptedRequest, "chat" | "caller">): boolean {
  return chat.includeCost || caller.record.costInAnswers;
}

function boundsOf({ chat, admitted: { reservation } }: RoutedRequest, candidate: Candidate): UsageBounds {
  const { maxOutputTokens } = candidateRequest(candidate, { chat, reservation });
  return usageBounds({ ...candidate, chat, maxOutputTokens });
}

/**
 * The journal reads all open generations once a second. It uses the guess for a prompt whose tokens are not counted yet, since counting
 * takes time.
 */
function guessedBounds(routed: RoutedRequest, candidate: Candidate): UsageBounds {
  return { ...boundsOf(routed, candidate), promptEstimate: () => guessTokens(routed.chat.inputTokens) };
}

/** The headers of an answer that this candidate served. */
function headersOf({ headers, caller }: RoutedRequest, candidate: Candidate): Record<string, string> {
  return isRoutingOn(caller.record) ? { ...headers, ...routeHeaders(candidate) } : headers;
}

function answerStream(
  routed: RoutedRequest,
  dispatched: Extract<DispatchResult, { kind: "stream" }>,
  gateway: Gateway,
): Response {
  const { candidate, calledAt, events, quiet, failed } = dispatched;
  // Until the stream ends it holds what its closures below name, so none of them names the request.
  const { lifecycle, clientSignal, createStream, acquireDrainSlot, keeper, admitted, caller } = routed;
  const recorded = lifecycle.prompt?.tap(events) ?? events;
  const { route } = candidate;
  const { clock, speeds, health, unpaid } = gateway;
  const bounds = boundsOnceTold(boundsOf(routed, candidate), lifecycle.reported);
  const failureContext = failureContextOf(routed);
  const withCost = showsCost(routed);
  const prompt = gateway.uncountedPrompts.keep({
    holder: holderOf(caller),
    bytes: routed.chat.inputTokens,
    estimate: bounds.promptEstimate,
  });
  const boundsSoFar = { ...bounds, promptEstimate: prompt.tokensSoFar };
  // A count that came before the first event is not among the events yet.
  const counted = (outcome: StreamOutcome): StreamOutcome => ({ ...outcome, usage: outcome.usage ?? lifecycle.reported });
  const body = relay({
    createStream,
    events: keeper?.tap(recorded) ?? recorded,
    quiet,
    clientSignal,
    stop: lifecycle.stop,
    writer: writerOf(routed, candidate),
    acquireDrainSlot: (finished) => acquireDrainSlot(candidate, finished),
    clock,
    startedAt: lifecycle.startedAt,
    trackOutcome: (currentOutcome) => lifecycle.trackUsage(() => chargedUsage(counted(currentOutcome()), boundsSoFar).usage),
    onEnd(ended) {
      prompt[Symbol.dispose]();
      const outcome = counted(ended);
      const ms = clock.monotonic() - calledAt;
      const hides = mayHideOutput(candidate);
      // Output that is not hidden is not written faster than the client reads it.
      const likely = speeds.estimateTokens(route, { ms: hides ? ms : ms - outcome.heldUpMs, hides });
      const delivered = chargedUsage(outcome, bounds, likely);
      const left = (): ChargedUsage => chargedUsage({ ...outcome, how: "client_gone" }, bounds, likely);
      const end = { ...failureContext, candidate, delivered, left, hasLeft: outcome.how === "client_gone" };
      const { failure } = outcome;
      // The client had its whole answer before the usage came, so the time of that wait says nothing about the route.
      const charged = failure === null || outcome.isComplete ? delivered : chargedFailure({ ...end, failure }, unpaid);
      if (isMeasure(outcome, ms)) speeds.record(route, { tokens: charged.usage.completionTokens, ms });
      const error = outcome.failure === null ? null : streamError(outcome.failure);
      const ending = outcome.how === "client_gone" ? clientGone : { status: 200, code: error?.code ?? null, error };
      if (outcome.failure !== null) recordFailure(failureContext, { candidate, failure: outcome.failure }, gateway);
      else if (outcome.how === "completed") health.recordAnswer(route, latencyOf(outcome.firstTokenMs, failed));
      lifecycle.settleNow({ ...ending, ...charged, candidate, firstTokenMs: outcome.firstTokenMs });
      const answer = outcome.final ? keeper?.answer() : null;
      if (answer) keepAnswer({ lifecycle, admitted, caller }, { candidate, answer, usage: charged.usage }, gateway);
      return withCost ? { ...charged.usage, cost: lifecycle.charge } : charged.usage;
    },
  });
  return new Response(body, { headers: { ...streamHeaders, ...headersOf(routed, candidate) } });
}

function writerOf({ lifecycle, chat, format, admitted }: RoutedRequest, { model, route }: Candidate): StreamWriter {
  return format.streamWriter({
    id: admitted.reservation.generation,
    created: lifecycle.created,
    model: model.id,
    includeUsage: chat.includeUsage,
    signer: signerOf(route),
    promptTokens: lifecycle.reported?.promptTokens ?? guessTokens(chat.inputTokens),
  });
}

/** Whether the provider counted tokens of output and the client did not hold it up: a slow reader must not make a route look slow. */
function isMeasure({ final, usage, heldUpMs }: StreamOutcome, ms: number): boolean {
  return final && Boolean(usage?.completionTokens) && heldUpMs * 10 < ms;
}

/** The client left before there was anything to send, and the gateway aborted the call. */
async function answerDisconnected(
  routed: RoutedRequest,
  { candidate }: Extract<DispatchResult, { kind: "disconnected" }>,
  gateway: Gateway,
): Promise<Response> {
  const charged = chargedSoFar(routed, candidate, gateway);
  await routed.lifecycle.settle({ ...clientGone, ...charged, candidate, firstTokenMs: null });
  return new Response(null, { status: clientGone.status });
}

/** The charge for a client that leaves now, before there is anything to send. A whole answer is hidden until it is complete. */
function chargedSoFar(routed: RoutedRequest, candidate: Candidate, { clock, speeds }: Gateway): ChargedUsage {
  const { sentAt, reported } = routed.lifecycle;
  if (sentAt === null) return nothingCharged;
  const hides = !routed.chat.streamed || mayHideOutput(candidate);
  const likely = speeds.estimateTokens(candidate.route, { ms: clock.monotonic() - sentAt, hides });
  return chargedDisconnect(reported, boundsOf(routed, candidate), likely);
}

function answerFailed(
  routed: RoutedRequest,
  { failure, candidate }: Extract<DispatchResult, { kind: "failed" }>,
  gateway: Gateway,
): Promise<Response> {
  const left = (): ChargedUsage => chargedSoFar(routed, candidate, gateway);
  const hasLeft = routed.clientSignal.aborted;
  const context = failureContextOf(routed);
  const charged = chargedFailure({ ...context, failure, candidate, delivered: nothingCharged, left, hasLeft }, gateway.unpaid);
  return answerFailure(routed, upstreamError(failure, candidate.route), candidate, charged);
}

function failureContextOf({ admitted, lifecycle, clientSignal }: StartedRequest): FailureContext {
  return { reservation: admitted.reservation, lifecycle, clientSignal };
}

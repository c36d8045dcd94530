/** Serves an accepted embeddings request: journals it before the provider is called, and settles it once before the client has the answer. */
import type { Admission, Caller } from "../admission/client/admission.ts";
import { GatewayError } from "../../kernel/errors.ts";
import type { TraceStart } from "../../kernel/telemetry/traces.ts";
import type { Candidate } from "../models/routing/candidate.ts";
import type { EmbeddingFacts } from "../models/model.ts";
import { hiddenInputTokens } from "../models/price.ts";
import { guessTokens } from "../models/tokens/input-tokens.ts";
import { inputCount, type EmbeddingAnswer } from "../providers/embedding.ts";
import type { UpstreamFailure } from "../providers/provider.ts";
import { chargedEmbedding, noUsage, nothingCharged, type ChargedUsage } from "./call/charged-usage.ts";
import { chargedFailure } from "./call/unpaid-work.ts";
import { embeddingAttempts } from "./call/embedding-attempts.ts";
import { endingError } from "./error-answer.ts";
import type { Gateway } from "./gateway.ts";
import { recordFailure } from "./call/record-failure.ts";
import { nameRejectedInput } from "./call/rejected-field.ts";
import { answerFailure, clientGone } from "./generate.ts";
import { GenerationLifecycle } from "./generation-lifecycle.ts";
import type { CheckedEmbedding } from "./request/embedding/check.ts";
import { embeddingResponse } from "./response/embedding-answer.ts";
import { generationHeaders, windowHeaders } from "./response/headers.ts";
import { upstreamError } from "./response/upstream-errors.ts";

export interface AcceptedEmbedding {
  /** The request's signal. */
  clientSignal: AbortSignal;
  trace: TraceStart | null;
  caller: Caller;
  embedding: CheckedEmbedding;
  admitted: Admission;
  /** Holds what the request may take of memory. It is moved to an answer that is written in pieces. */
  memory: DisposableStack;
}

/** The one route of the model; null: the catalog has changed since it was priced. */
interface Serving {
  candidate: Candidate;
  facts: EmbeddingFacts;
}

interface StartedEmbedding extends AcceptedEmbedding {
  lifecycle: GenerationLifecycle;
  headers: Record<string, string>;
}

/** @throws GatewayError before the request is in the journal; afterwards every outcome is a Response */
export async function embedAdmitted(accepted: AcceptedEmbedding, gateway: Gateway): Promise<Response> {
  const serving = servingRoute(accepted, gateway);
  const lifecycle = await openGeneration(accepted, serving, gateway);
  const { reservation, window } = accepted.admitted;
  const headers = { ...generationHeaders(reservation), ...windowHeaders(window) };
  const started = { ...accepted, lifecycle, headers };
  try {
    if (serving === null) throw new GatewayError("model_unavailable", { param: "model", shouldRetry: true });
    return await respond(started, serving, gateway);
  } catch (error) {
    return await answerFailure(started, endingError(error, gateway), null);
  }
}

function servingRoute({ embedding, caller }: AcceptedEmbedding, { models }: Gateway): Serving | null {
  const model = models.find(embedding.model);
  if (!model?.embeddings) return null;
  const [route] = models.usableRoutes(model, caller.record).routes;
  return route === undefined ? null : { candidate: { model, route }, facts: model.embeddings };
}

function openGeneration(
  { admitted, embedding, trace }: AcceptedEmbedding,
  serving: Serving | null,
  gateway: Gateway,
): Promise<GenerationLifecycle> {
  const { model, inputs, inputTokens } = embedding;
  const promptEstimate = inputs.kind === "tokens" ? inputTokens : guessTokens(inputTokens);
  const { fingerprint, decision } = admitted;
  const facts = { model, promptEstimate, fingerprint, decision, trace, streamed: false, prompt: null, isRouted: false };
  const candidate = serving?.candidate ?? null;
  return GenerationLifecycle.open(admitted.reservation, { ...facts, endpoint: "embeddings", candidate }, gateway);
}

async function respond(started: StartedEmbedding, { candidate, facts }: Serving, gateway: Gateway): Promise<Response> {
  const { admitted, caller, embedding, lifecycle, clientSignal } = started;
  const { reservation } = admitted;
  const { generation } = reservation;
  const { route } = candidate;
  const { inputs, dimensions, inputType } = embedding;
  const dimensionsExpected = dimensions ?? facts.dimensions;
  // Only shortened vectors have another length than 1.
  const normalize = facts.normalize && dimensionsExpected < facts.dimensions;
  const result = await embeddingAttempts({
    callRoute({ second, givenUp, onResent }) {
      lifecycle.startCall(candidate);
      const request = { inputs, dimensions, inputType, dimensionsExpected, normalize };
      const onSent = (): void => lifecycle.markSent();
      const resent = (): void => {
        lifecycle.noteResent();
        onResent();
      };
      const call = { generation, route, ...request, second, onResent: resent };
      const answer = gateway.embed(reservation, call, { givenUp, onSent, startedAt: lifecycle.startedAt });
      lifecycle.noteUnlessSent();
      return answer;
    },
    fallbacks: caller.record.fallbacks,
    clientSignal,
    stop: lifecycle.stop,
  });
  for (const failure of result.failed) recordFailure({ reservation, lifecycle, clientSignal }, { candidate, failure }, gateway);
  switch (result.kind) {
    case "answered":
      return await answer(started, { candidate, ...result }, gateway);
    case "failed":
      return await answerFailed(started, { candidate, ...result }, gateway);
    case "unsent":
      await lifecycle.settle({ ...clientGone, usage: noUsage, estimated: false, candidate, firstTokenMs: null });
      return new Response(null, { status: clientGone.status });
  }
}

/** If the request was sent and timed out, its provider may bill the inputs. */
function answerFailed(
  started: StartedEmbedding,
  { candidate, failure }: { candidate: Candidate; failure: UpstreamFailure },
  { unpaid }: Gateway,
): Promise<Response> {
  const { lifecycle, admitted, embedding, clientSignal } = started;
  const left = (): ChargedUsage => ({ usage: { ...noUsage, promptTokens: embedding.promptEstimate() }, estimated: true });
  const call = { reservation: admitted.reservation, lifecycle, candidate, failure, hasLeft: clientSignal.aborted };
  const charged = chargedFailure({ ...call, delivered: nothingCharged, left }, unpaid);
  nameRejectedInput(failure, embedding);
  return answerFailure(started, upstreamError(failure, candidate.route), candidate, charged);
}

interface Answered {
  candidate: Candidate;
  answer: EmbeddingAnswer;
  failed: unknown[];
}

async function answer(
  { lifecycle, embedding, headers, memory }: StartedEmbedding,
  { candidate, answer: { vectors, promptTokens }, failed }: Answered,
  { health, clock }: Gateway,
): Promise<Response> {
  const { model, route } = candidate;
  const tokensMax = inputCount(embedding.inputs) * model.contextLength + hiddenInputTokens(route, false);
  const { usage, estimated } = chargedEmbedding(promptTokens, { estimate: embedding.promptEstimate, tokensMax });
  const firstTokenMs = lifecycle.elapsedMs();
  // Part of the time was spent on a failed attempt.
  health.recordAnswer(route, failed.length === 0 ? firstTokenMs : null);
  await lifecycle.settle({ candidate, usage, estimated, status: 200, code: null, firstTokenMs });
  const facts = { vectors, base64: embedding.base64, model: embedding.model, promptTokens: usage.promptTokens };
  return embeddingResponse(facts, { headers, memory: () => memory.move(), clock });
}

/**
 * An embeddings request from top to bottom, in the specification's order of checks. The first problem is answered; until the fifth check
 * has passed, nothing is sent to a provider and nothing is charged. An accepted request is journaled before its provider is called, and
 * settled once before the client has the answer.
 * It is simpler than a prompt: one route serves a model, the call is repeated once after `upstream_error` at most, and an answer is never
 * streamed. A client that leaves does not end a call that was sent, since the call is short and its provider bills it.
 * The texts are stored nowhere, even if the workspace stores prompts.
 */
import { GatewayError } from "../../kernel/errors.ts";
import { StopSignal } from "../../kernel/clock.ts";
import { startTrace, type TraceStart } from "../../kernel/traces.ts";
import type { Admission, Caller } from "../admission/message.ts";
import type { EmbeddingFacts } from "../models/model.ts";
import { hiddenInputTokens } from "../models/price.ts";
import type { Candidate } from "../models/candidate.ts";
import { guessTokens } from "../models/chat-tokens.ts";
import { inputCount, type EmbeddingAnswer } from "../providers/embedding.ts";
import { UpstreamFailure, isGivenUp } from "../providers/provider.ts";
import { embeddingResponse } from "./answer/embedding-answer.ts";
import { generationHeaders, windowHeaders } from "./answer/response.ts";
import { upstreamError } from "./answer/upstream-errors.ts";
import { authenticate, requireEarlyAccess } from "./authenticate.ts";
import { chargedEmbedding, noUsage, nothingCharged, type ChargedUsage, chargedFailure } from "./call/charged-usage.ts";
import { recordFailure, nameRejectedInput } from "./call/failures.ts";
import { endingError } from "./error-answer.ts";
import type { Gateway } from "./gateway.ts";
import { refusedTo } from "./refused.ts";
import { answerFailure, clientGone } from "./generate.ts";
import { GenerationLifecycle } from "./lifecycle.ts";
import { readBody, asGatewayError, holderOf } from "./request/body.ts";
import { checkEmbedding, type CheckedEmbedding } from "./request/embedding.ts";
import { readClaim } from "./request/idempotency.ts";

/** @throws GatewayError with the first problem */
export async function createEmbeddings(request: Request, gateway: Gateway): Promise<Response> {
  const { admission, bodies, clock, clocks, inFlight, models } = gateway;
  const trace = startTrace(request, clock);
  // 1. The key (401), then the platform and the endpoint (403)
  const caller = await authenticate(request, gateway);
  try {
    requireEarlyAccess(caller, "embeddings");
    // 2. The body's size (413), then its fields (400)
    using memory = new DisposableStack();
    const lease = memory.use(bodies.lease(holderOf(caller)));
    const bytes = await readBody(request, { clock, bodyMs: clocks.bodyMs, lease, caller });
    const embedding = checkEmbedding(bytes, models);
    const claim = readClaim(request, { caller, endpoint: "embeddings", bytes });
    inFlight.requireCapacity(caller);
    try {
      lease.grow(embedding.answerBytes);
    } catch (error) {
      throw asGatewayError(error, caller);
    }
    // 3. Requests per minute (429), 4. the model (404, 503), 5. credit and spend limits (402): one atomic decision
    const admitted = await admission.admit(caller, claim === null ? embedding : { ...embedding, claim });
    // 6. The provider (400, 429, 502, 504)
    return await embedAdmitted({ clientSignal: request.signal, trace, caller, embedding, admitted, memory }, gateway);
  } catch (error) {
    throw refusedTo(caller, error);
  }
}

interface AcceptedEmbedding {
  /** The request's signal. */
  clientSignal: AbortSignal;
  trace: TraceStart | null;
  caller: Caller;
  embedding: CheckedEmbedding;
  admitted: Admission;
  /** Holds the memory that the request may take. It is moved to an answer that is written in pieces. */
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

/**
 * Serves an accepted request.
 * @throws GatewayError before the request is in the journal; afterwards every outcome is a Response
 */
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
  // Only shortened vectors have a length other than 1.
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

interface EmbeddingAttempts {
  /** Calls the provider. @param onResent the transport has sent the request twice, which counts as the retry */
  callRoute(attempt: { second: boolean; givenUp: StopSignal; onResent: () => void }): Promise<EmbeddingAnswer>;
  fallbacks: boolean;
  /** The request's signal. */
  clientSignal: AbortSignal;
  /** Stops when the process shuts down and cannot wait any longer. */
  stop: StopSignal;
}

type EmbeddingResult =
  | { kind: "answered"; answer: EmbeddingAnswer; failed: UpstreamFailure[] }
  | { kind: "failed"; failure: UpstreamFailure; failed: UpstreamFailure[] }
  /** The client left before the request was sent. */
  | { kind: "unsent"; failed: UpstreamFailure[] };

/**
 * Calls the route, and once more after `upstream_error` where retries are allowed. Rejects only with errors that are not a provider's
 * failure.
 */
async function embeddingAttempts({ callRoute, fallbacks, clientSignal, stop }: EmbeddingAttempts): Promise<EmbeddingResult> {
  const failed: UpstreamFailure[] = [];
  if (clientSignal.aborted) return { kind: "unsent", failed };
  const givenUp = new StopSignal();
  let mayRetry = fallbacks;
  const disableRetry = (): void => void (mayRetry = false);
  clientSignal.addEventListener("abort", disableRetry);
  stop.listen(() => {
    disableRetry();
    givenUp.stop();
  });
  try {
    for (;;) {
      try {
        return {
          kind: "answered",
          answer: await callRoute({ second: failed.length > 0, givenUp, onResent: disableRetry }),
          failed,
        };
      } catch (failure) {
        if (!(failure instanceof UpstreamFailure)) throw failure;
        failed.push(failure);
        if (!mayRetry || failure.code !== "upstream_error" || isGivenUp(failure)) return { kind: "failed", failure, failed };
        mayRetry = false;
      }
    }
  } finally {
    stop.listen(null);
  }
}

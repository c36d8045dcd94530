/**
 * Records a provider's failure: in the log, in our words and never in the provider's; in the metrics; and against the route's health. A
 * call that the gateway aborted and a fault of the request do not count against the provider.
 * Where the provider named a field, the failure gets the name that the client used for it. A field that the request does not have is never
 * shown: it would be the provider's text.
 */
import { raiseAlarm, upstreamFailuresTotal } from "../../../kernel/metrics.ts";
import type { Logger } from "../../../kernel/log.ts";
import type { StopSignal } from "../../../kernel/clock.ts";
import type { Reservation } from "../../credit/reservation.ts";
import type { RouteHealth } from "../../models/route-health.ts";
import type { Candidate } from "../../models/candidate.ts";
import type { KeyReports } from "../../own-keys/key-reports.ts";
import type { ServiceKeyReports } from "../../service-keys/call-reports.ts";
import { inputCount, type EmbeddingRequest } from "../../providers/embedding.ts";
import { native, type ChatBody, type UpstreamFailure } from "../../providers/provider.ts";
import { wireFormats } from "../../providers/registry.ts";
import { pathText, provenPath, readPathText, snakeCase, type FieldPath } from "../../providers/provider-error.ts";
import { Rejection } from "../../providers/rejection.ts";
import type { CheckedChat } from "../request/chat-request.ts";
import type { Attempt } from "./dispatch.ts";
import type { SentCall } from "./charged-usage.ts";

/** What a failure concerns. An open stream holds this instead of the request, which would keep the body in memory. */
export interface FailureContext {
  reservation: Reservation;
  lifecycle: SentCall & { readonly stop: StopSignal };
  clientSignal: AbortSignal;
}

interface Recorders {
  log: Logger;
  health: Pick<RouteHealth, "recordFailure">;
  ownKeys: Pick<KeyReports, "refused">;
  serviceKeys: Pick<ServiceKeyReports, "refused">;
}

type Failed = Pick<Attempt, "candidate" | "failure">;

/** A call that the gateway aborted, and a fault of the request, do not count against the provider. */
export function recordFailure(
  { reservation, lifecycle, clientSignal }: FailureContext,
  { candidate, failure }: Failed,
  { log, health, ownKeys, serviceKeys }: Recorders,
): void {
  const { route } = candidate;
  logFailure(reservation, { candidate, failure }, log);
  upstreamFailuresTotal.inc({ provider: route.provider.id, code: failure.code });
  const givenUp = clientSignal.aborted || lifecycle.stop.stopped;
  if (failure.code === "upstream_auth") {
    if (route.ownKey) ownKeys.refused(route.ownKey);
    else serviceKeys.refused(route.provider, failure);
  }
  // A provider may refuse or limit the workspace's account while it serves all others.
  const isOfAccount = route.ownKey && (failure.code === "upstream_auth" || failure.code === "upstream_rate_limited");
  if (!givenUp && !isOfAccount && failure.code !== "upstream_rejected") health.recordFailure(route);
}

function logFailure({ generation }: Reservation, { candidate: { route }, failure }: Failed, log: Logger): void {
  const facts = {
    generation,
    provider: route.provider.id,
    model: route.upstreamModel,
    detail: failure.message,
    ...(failure instanceof Rejection && failure.why !== null && { cause: failure.why }),
    ...(route.ownKey && { ownKey: route.ownKey.id }),
  };
  if (failure.code === "upstream_auth" && !route.ownKey)
    raiseAlarm(log, "upstream.auth", facts, "A provider refused the service's own credentials");
  else log.warn({ event: "upstream.failed", code: failure.code, ...facts });
}

// The field that was refused

type SentChat = Pick<
  CheckedChat,
  "body" | "routing" | "maxTokens" | "outputField" | "promptField" | "clientPath" | "promptEstimate" | "inputTokens"
>;

/** No message is searched for in a larger prompt: that would convert all of them again. */
const searchedPromptBytesMax = 1024 * 1024;

/** Puts the field into the failure, if the candidate's provider refused the request and named one. */
export function nameRejectedField(failure: UpstreamFailure, chat: SentChat, { model, route }: Candidate): void {
  if (!(failure instanceof Rejection)) return;
  const body = chat.routing?.bodies.get(model.id) ?? chat.body;
  if (failure.why === "too_long")
    failure.size = { prompt: chat.promptEstimate(), output: chat.maxTokens, context: model.contextLength };
  // A prompt that is too long by itself is at fault, whatever output was asked for.
  const isPromptAlone = failure.why === "too_long" && chat.promptEstimate() >= model.contextLength;
  const own = body[native];
  if (own?.format === route.format) {
    const find = wireFormats[route.format].format.clientField?.({ chat: body, route }) ?? ((path) => path);
    const isSearched = chat.inputTokens <= searchedPromptBytesMax;
    const named = failure.paths.map((path) => (isSearched ? find(path) : path.slice(0, 1))).filter((field) => field !== null);
    const likely = isPromptAlone ? [["messages"]] : [...failure.fields, ...named];
    failure.param = deepestOf(likely.map((path) => provenPath(own.body, inNativeNames(path, chat))));
    return;
  }
  const searched = chat.inputTokens > searchedPromptBytesMax ? { ...body, messages: [] } : body;
  const clientField = wireFormats[route.format].format.clientField?.({ chat: searched, route }) ?? ((path) => path);
  const named = failure.paths.map(clientField).filter((field) => field !== null);
  const { messages, ...fields } = body;
  const prompt = chat.promptField === "prompt" ? { prompt: messages[0]?.content } : { messages };
  const request = { ...fields, ...prompt, ...(chat.outputField && { [chat.outputField]: chat.maxTokens }) };
  const likely = isPromptAlone ? [["messages"]] : [...failure.fields, ...named];
  const proven = likely.map((path) => provenPath(request, inClientsNames(path, chat)));
  failure.param = deepestOf(proven.map((path) => clientsPath(path, chat, body)));
}

/** @param path of the chat, or of the bound on output, whose name is the client's */
function clientsPath(path: string | null, { clientPath, outputField }: SentChat, body: ChatBody): string | null {
  if (path === null || clientPath === undefined || path === outputField) return path;
  const own = clientPath(body, readPathText(path));
  return own === null ? null : pathText(own);
}

/** The names that embedding formats give to a request's fields. */
const embeddingFields = new Map<string, string>([
  ...["input", "inputs", "texts", "content", "contents", "requests", "messages"].map((name) => [name, "input"] as const),
  ...["dimensions", "output_dimension", "output_dimensionality"].map((name) => [name, "dimensions"] as const),
  ...["input_type", "task_type"].map((name) => [name, "input_type"] as const),
  ["model", "model"],
]);

/** `nameRejectedField` of an embeddings request. */
export function nameRejectedInput(failure: UpstreamFailure, { inputs, dimensions, inputType }: EmbeddingRequest): void {
  if (!(failure instanceof Rejection)) return;
  const count = inputCount(inputs);
  const request: Record<string, unknown> = {
    model: "",
    // A single input may have been sent without a list.
    input: count === 1 ? "" : Array.from({ length: count }, () => ""),
    ...(dimensions !== null && { dimensions }),
    ...(inputType !== null && { input_type: inputType }),
  };
  const named = [...failure.fields, ...failure.paths].map(([first = "", index = ""]) => {
    const field = embeddingFields.get(snakeCase(first));
    return field === undefined ? null : provenPath(request, [field, index]);
  });
  failure.param = deepestOf(named);
}

/** The first, or a later one that continues where it ends. */
function deepestOf(fields: readonly (string | null)[]): string | null {
  return fields.reduce((deepest, field) => {
    if (deepest === null || field === null) return deepest ?? field;
    return field.startsWith(`${deepest}.`) || field.startsWith(`${deepest}[`) ? field : deepest;
  }, null);
}

/** Names of the bound on output, which may have another name for the client than for its provider. */
const outputNames = new Set(["max_tokens", "max_completion_tokens", "max_new_tokens", "max_output_tokens"]);

function inClientsNames([first = "", ...rest]: FieldPath, { outputField, promptField }: SentChat): FieldPath {
  if (outputNames.has(snakeCase(first))) return [outputField ?? first];
  const isPrompt = first === "messages" || first === "prompt";
  if (isPrompt && promptField === "prompt") return ["prompt"];
  return isPrompt ? ["messages", ...rest] : [first, ...rest];
}

/** The provider had the client's own fields; only our own finding may name the prompt and the bound on output as a chat does. */
function inNativeNames([first = "", ...rest]: FieldPath, { outputField, promptField }: SentChat): FieldPath {
  if (outputNames.has(snakeCase(first))) return [outputField ?? first];
  return [first === "messages" ? (promptField ?? first) : first, ...rest];
}

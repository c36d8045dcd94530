/** Finds the field of the client's request for which a provider refused it. What the request does not have is never shown. */
import type { Candidate } from "../../models/routing/candidate.ts";
import { inputCount, type EmbeddingRequest } from "../../providers/embedding.ts";
import type { UpstreamFailure } from "../../providers/provider.ts";
import { wireFormats } from "../../providers/registry.ts";
import { provenPath, snakeCase, type FieldPath } from "../../providers/rejection/field-path.ts";
import { Rejection } from "../../providers/rejection/rejection.ts";
import type { CheckedChat } from "../request/chat.ts";

type SentChat = Pick<
  CheckedChat,
  "body" | "routing" | "maxTokens" | "outputField" | "promptField" | "promptEstimate" | "inputTokens"
>;

/** In a larger prompt no message is looked for: that means to convert all of them once more. */
const searchedPromptBytesMax = 1024 * 1024;

/** Puts the field into the failure, if the candidate's provider refused the request and named one. */
export function nameRejectedField(failure: UpstreamFailure, chat: SentChat, { model, route }: Candidate): void {
  if (!(failure instanceof Rejection)) return;
  const body = chat.routing?.bodies.get(model.id) ?? chat.body;
  const searched = chat.inputTokens > searchedPromptBytesMax ? { ...body, messages: [] } : body;
  const clientField = wireFormats[route.format].format.clientField?.({ chat: searched, route }) ?? ((path) => path);
  const named = failure.paths.map(clientField).filter((field) => field !== null);
  const { messages, ...fields } = body;
  const prompt = chat.promptField === "prompt" ? { prompt: messages[0]?.content } : { messages };
  const request = { ...fields, ...prompt, ...(chat.outputField && { [chat.outputField]: chat.maxTokens }) };
  // A prompt that is too long by itself is at fault, whatever output was asked for.
  const isPromptAlone = failure.why === "too_long" && chat.promptEstimate() >= model.contextLength;
  const likely = isPromptAlone ? [["messages"]] : [...failure.fields, ...named];
  failure.param = deepestOf(likely.map((path) => provenPath(request, inClientsNames(path, chat))));
}

/** Names of the bound on output, which the client may call otherwise than its provider. */
const outputNames = new Set(["max_tokens", "max_completion_tokens", "max_new_tokens", "max_output_tokens"]);

function inClientsNames([first = "", ...rest]: FieldPath, { outputField, promptField }: SentChat): FieldPath {
  if (outputNames.has(snakeCase(first))) return [outputField ?? first];
  const isPrompt = first === "messages" || first === "prompt";
  if (isPrompt && promptField === "prompt") return ["prompt"];
  return isPrompt ? ["messages", ...rest] : [first, ...rest];
}

/** The first, or a later one that goes on where it ends. */
function deepestOf(fields: readonly (string | null)[]): string | null {
  return fields.reduce((deepest, field) => {
    if (deepest === null || field === null) return deepest ?? field;
    return field.startsWith(`${deepest}.`) || field.startsWith(`${deepest}[`) ? field : deepest;
  }, null);
}

/** What the formats of embeddings call the fields of a request. */
const embeddingFields = new Map<string, string>([
  ...["input", "inputs", "texts", "content", "contents", "requests", "messages"].map((name) => [name, "input"] as const),
  ...["dimensions", "output_dimension", "output_dimensionality"].map((name) => [name, "dimensions"] as const),
  ...["input_type", "task_type"].map((name) => [name, "input_type"] as const),
  ["model", "model"],
]);

/** As `nameRejectedField`, for embeddings. */
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

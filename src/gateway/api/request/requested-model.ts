/**
 * What a request asks of its model: the id, the kind (chat or embeddings), the words in `supports` that open fields, and what the wire
 * formats of its routes do with the request. A word opens the fields of chat-fields.ts that need it; other fields are open for every model.
 * The table in docs/reference/inference.md is made from the words (scripts/inference-tables.ts).
 * A model that is not in the catalog passes every check here. Check 4 refuses it.
 */
import { GatewayError, invalidRequest, unsupportedParameter } from "../../../kernel/errors.ts";
import { modelIdCharactersMax } from "../../limits.ts";
import { embeddingWords } from "../../models/catalog-entry.ts";
import type { Model, WireFormatName } from "../../models/model.ts";
import type { ChatBody } from "../../providers/provider.ts";
import { pathText, readPathText, type FieldPath } from "../../providers/provider-error.ts";
import { wireFormats } from "../../providers/registry.ts";

interface SupportFacts {
  /** The values or fields that it opens within other fields. */
  opensWithin?: string | readonly string[];
  /** A stronger word that opens the same fields: a model that follows a schema writes JSON, and functions are the older form of tools. */
  impliedBy?: string;
  /** What happens without it. */
  without: string;
}

export const supportWords = {
  tools: { without: "refused" },
  custom_tools: { opensWithin: "tools[].custom", without: "refused" },
  functions: { impliedBy: "tools", without: "refused" },
  json_object: { opensWithin: "response_format.type=json_object", impliedBy: "json_schema", without: "refused" },
  json_schema: { opensWithin: "response_format.type=json_schema", without: "refused" },
  reasoning: { without: "refused" },
  reasoning_content: {
    opensWithin: "messages[].reasoning_content",
    without: "sent on if the model reasons",
  },
  thought_signatures: {
    opensWithin: "messages[].tool_calls[].id",
    without: "the signature in an id is left out",
  },
  verbosity: { without: "refused" },
  penalties: { without: "refused" },
  seed: { without: "refused" },
  logit_bias: { without: "refused" },
  logprobs: { without: "refused" },
  cache_control: { opensWithin: ["messages[].content[].cache_control", "tools[].cache_control"], without: "refused" },
  prediction: { without: "refused" },
} as const satisfies Record<string, SupportFacts>;

export type SupportWord = keyof typeof supportWords;

/** Every word that a model of the catalog may have. */
export const catalogWords: ReadonlySet<string> = new Set([...Object.keys(supportWords), ...embeddingWords]);

export function factsOf(word: SupportWord): SupportFacts {
  return supportWords[word];
}

/** Also true if the model is not in the catalog or not a chat model: a later check answers that. */
export function supports(model: Model | null, word: SupportWord): boolean {
  if (model === null || model.kind !== "chat" || model.supports.has(word)) return true;
  const { impliedBy } = factsOf(word);
  return impliedBy !== undefined && model.supports.has(impliedBy);
}

/**
 * The id of a model, which need not be in the catalog.
 * @param at the path of the field, as `param` shows it
 * @throws GatewayError invalid_request, or unsupported_parameter for a custom model
 */
export function readModelId(value: unknown, at: string): string {
  if (value === undefined) throw invalidRequest(at, `${at} is required`);
  if (typeof value !== "string" || value === "") throw invalidRequest(at, `${at} must be the id of a model`);
  if (value.length > modelIdCharactersMax)
    throw invalidRequest(at, `${at} must not be longer than ${modelIdCharactersMax} characters`);
  if (value.startsWith("custom:")) throw unsupportedParameter(at, "A custom model cannot be used with an API key");
  return value;
}

/**
 * Checks that an endpoint serves this kind of model. A model that is not in the catalog, or answers without a model, is refused by a later
 * check.
 * @throws GatewayError invalid_request for a model of the other kind
 */
export function requireKind(model: Model | null, kind: "chat" | "embeddings"): void {
  if (model === null || model.kind === kind || model.kind === "none") return;
  const message =
    model.kind === "embeddings"
      ? `${model.id} is an embeddings model: send it to /embeddings`
      : `${model.id} is a chat model and has no embeddings`;
  throw invalidRequest("model", message);
}

// Wire formats

/**
 * Every route must support the request, since any of them may serve it.
 * @param clientPath of the request's format
 * @throws GatewayError unsupported_parameter with `param`
 */
export function rejectUnsupportedFields(
  body: ChatBody,
  model: Pick<Model, "routes"> | null,
  clientPath?: (body: ChatBody, path: FieldPath) => FieldPath | null,
): void {
  for (const format of formatsOf(model)) {
    const unsupportedField = wireFormats[format]?.format.unsupportedField?.(body);
    if (!unsupportedField) continue;
    const { param, message } = unsupportedField;
    if (clientPath === undefined) throw unsupportedParameter(param, message);
    const path = clientPath(body, readPathText(param));
    const named = path === null ? undefined : pathText(path);
    const told = named === undefined ? message : message.replaceAll(param, () => named);
    throw new GatewayError("unsupported_parameter", { param: named, message: told });
  }
}

/** What any of the routes may add to the request's own texts, in bytes, as `inputTokensBound` counts. */
export function addedBytes(body: ChatBody, model: Pick<Model, "routes"> | null): number {
  return Math.max(0, ...[...formatsOf(model)].map((format) => wireFormats[format]?.format.addedBytes?.(body) ?? 0));
}

/** Each once, in the order of the routes. */
function formatsOf(model: Pick<Model, "routes"> | null): ReadonlySet<WireFormatName> {
  return new Set(model?.routes.map(({ format }) => format));
}

/**
 * The table of the words in a model's `supports`. A word opens the fields of chat-fields.ts that need it; what needs no word is open
 * for every model. The table in docs/inference.md is made from it (scripts/inference-tables.ts).
 */
import type { Model } from "../../models/model.ts";

interface SupportFacts {
  /** What it opens within another field. */
  opensWithin?: string;
  /** A stronger word that opens the same fields: a model that keeps to a schema writes JSON, and functions are tools by their old name. */
  impliedBy?: string;
  /** What happens without it. */
  without: string;
}

export const supportWords = {
  tools: { without: "refused; tool calls and tool messages are text and always taken" },
  custom_tools: { opensWithin: "tools[].custom", without: "refused" },
  functions: { impliedBy: "tools", without: "refused" },
  json_object: { opensWithin: "response_format.type=json_object", impliedBy: "json_schema", without: "refused" },
  json_schema: { opensWithin: "response_format.type=json_schema", without: "refused" },
  reasoning: { without: "refused" },
  reasoning_content: {
    opensWithin: "messages[].reasoning_content",
    without: "left out: the model does not want its own thoughts back",
  },
  thought_signatures: {
    opensWithin: "messages[].tool_calls[].id",
    without: "the signature within an id is left out, the id stays",
  },
  verbosity: { without: "refused" },
  penalties: { without: "refused" },
  seed: { without: "refused" },
  logit_bias: { without: "refused" },
  logprobs: { without: "refused" },
  prediction: { without: "refused; no model has it, for rejected predictions are billed extra" },
} as const satisfies Record<string, SupportFacts>;

export type SupportWord = keyof typeof supportWords;

export function factsOf(word: SupportWord): SupportFacts {
  return supportWords[word];
}

/** True also where the catalog does not know the model, or it is none for chat: that is answered at a later check. */
export function supports(model: Model | null, word: SupportWord): boolean {
  if (model === null || model.kind !== "chat" || model.supports.has(word)) return true;
  const { impliedBy } = factsOf(word);
  return impliedBy !== undefined && model.supports.has(impliedBy);
}

/**
 * The table of the words in a model's `supports`. A word opens the fields of chat-fields.ts that need it; other fields are open for every
 * model. The table in docs/reference/inference.md is made from it (scripts/inference-tables.ts).
 */
import { embeddingWords } from "../../models/embedding-entry.ts";
import type { Model } from "../../models/model.ts";

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

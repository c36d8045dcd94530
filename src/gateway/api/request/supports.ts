/** The words of a model's `supports` and what each one opens; what is not listed here is open for every model. */
import type { Model } from "../../models/model.ts";

export const supportWords = {
  tools: ["tools", "tool_choice", "parallel_tool_calls"],
  custom_tools: ["tools[].custom"],
  functions: ["functions", "function_call"],
  json_object: ["response_format.type=json_object"],
  json_schema: ["response_format.type=json_schema"],
  reasoning: ["reasoning_effort"],
  reasoning_content: ["messages[].reasoning_content"],
  thought_signatures: ["messages[].tool_calls[].id"],
  verbosity: ["verbosity"],
  penalties: ["frequency_penalty", "presence_penalty"],
  seed: ["seed"],
  logit_bias: ["logit_bias"],
  logprobs: ["logprobs", "top_logprobs"],
  prediction: ["prediction"],
} as const satisfies Record<string, readonly string[]>;

export type SupportWord = keyof typeof supportWords;

/** The weaker word needs no mention beside the stronger: who keeps to a schema writes JSON, and functions are tools by their old name. */
export const impliedBy: Partial<Record<SupportWord, SupportWord>> = { json_object: "json_schema", functions: "tools" };

/** True also where the catalog does not know the model, or it is none for chat: that is answered at a later check. */
export function supports(model: Model | null, word: SupportWord): boolean {
  if (model === null || model.kind !== "chat" || model.supports.has(word)) return true;
  const stronger = impliedBy[word];
  return stronger !== undefined && model.supports.has(stronger);
}

/** The words of a model's `supports` and what each one opens; what is not listed here is open for every model. */
import type { Model } from "../models/model.ts";

export const supportWords = {
  tools: ["tools", "tool_choice", "parallel_tool_calls"],
  custom_tools: ["tools[].custom"],
  functions: ["functions", "function_call"],
  json_object: ["response_format.type=json_object"],
  json_schema: ["response_format.type=json_schema"],
  reasoning: ["reasoning_effort"],
  reasoning_content: ["messages[].reasoning_content"],
  verbosity: ["verbosity"],
  penalties: ["frequency_penalty", "presence_penalty"],
  seed: ["seed"],
  logit_bias: ["logit_bias"],
  logprobs: ["logprobs", "top_logprobs"],
  prediction: ["prediction"],
} as const satisfies Record<string, readonly string[]>;

export type Support = keyof typeof supportWords;

/** True also where the catalog does not know the model, or it is none for chat: that is answered at a later check. */
export function supports(model: Model | null, word: Support): boolean {
  return model === null || model.kind !== "chat" || model.supports.has(word);
}

/**
 * The table of a completion's fields: every field of the official schema but `model` and `prompt`, in the schema's order
 * (https://github.com/openai/openai-openapi, CreateCompletionRequest), and additions after them. What a chat completion has too is the same row.
 */
import { completionTokensDefault } from "../../limits.ts";
import { chatFields, type ChatField } from "./chat-fields.ts";
import { acceptOnly, maxTokens, notSupported } from "./chat-options.ts";
import { nullable } from "./read-value.ts";

const ofChat = new Map(chatFields.map((field) => [field.name, field]));
const theDefault = "none: the default";

export const completionFields: readonly ChatField[] = [
  {
    name: "best_of",
    ...nullable(acceptOnly([1], "best_of=1"), "From how many answers to choose: only best_of=1 is supported"),
    accepts: "1",
    effect: theDefault,
  },
  {
    name: "echo",
    ...nullable(acceptOnly([false], "echo=false"), "Whether the answer begins with the prompt: only false is supported"),
    accepts: "`false`",
    effect: theDefault,
  },
  asInChat("frequency_penalty"),
  asInChat("logit_bias"),
  {
    name: "logprobs",
    ...nullable(notSupported, "Not supported: only null"),
    accepts: "nothing",
    effect: "refused: chat completions have another form",
  },
  {
    name: "max_tokens",
    ...nullable(maxTokens, "The most tokens of the answer, its reasoning included. Limits the cost that is reserved"),
    accepts: `1 to the model's \`max_output_tokens\`; absent: ${completionTokensDefault}`,
    effect: "limits answer, reasoning and reservation",
  },
  asInChat("n"),
  asInChat("presence_penalty"),
  asInChat("seed"),
  asInChat("stop"),
  asInChat("stream"),
  asInChat("stream_options"),
  {
    name: "suffix",
    ...nullable(notSupported, "Not supported: only null"),
    accepts: "nothing",
    effect: "refused: no model writes text before another",
  },
  asInChat("temperature"),
  asInChat("top_p"),
  asInChat("user"),
  asInChat("usage"),
];

function asInChat(name: string): ChatField {
  const field = ofChat.get(name);
  if (field === undefined) throw new Error(`Chat completions have no field "${name}"`);
  return field;
}

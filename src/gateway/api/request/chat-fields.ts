/**
 * The table of the request's fields: every field of the official schema but `model` and `messages`, in the schema's order
 * (https://github.com/openai/openai-openapi, CreateChatCompletionRequest). The check of requests, the OpenAPI description and the
 * table in docs/inference.md (scripts/inference-tables.ts) are made from it.
 */
import { temperatureMax } from "../../limits.ts";
import {
  acceptOnly,
  checkOnly,
  honorDefaultOnly,
  logitBias,
  maxTokens,
  metadata,
  modalities,
  notSupported,
  prediction,
  responseFormat,
  stop,
  streamOptions,
  topLogprobs,
} from "./chat-options.ts";
import { legacyFunctionChoice, legacyFunctions, parallelToolCalls, toolChoice, tools } from "./chat-tools.ts";
import {
  anyString,
  boolean,
  integerFrom,
  nullable,
  numberFrom,
  omitIf,
  oneOf,
  optional,
  string,
  type Field,
} from "./read-value.ts";
import type { SupportWord } from "./supports.ts";

interface ChatRow extends Field {
  /** The word that a model must support for this field, unless the value asks for the default. */
  needs?: SupportWord;
  /** The accepted values, for docs/inference.md. */
  accepts: string;
  /** What the gateway does with the field, for docs/inference.md. */
  effect: string;
}

export interface ChatField extends ChatRow {
  name: string;
}

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const isZero = (value: unknown): boolean => value === 0;
const isFalse = (value: unknown): boolean => value === false;
const penalty = omitIf(isZero, numberFrom(-2, 2));
const anyInteger = integerFrom(Number.MIN_SAFE_INTEGER);
const cappedOutput = "Bounds the tokens of the answer, those of its reasoning included, and with them the cost that is set aside";

const label = "a label: checked and sent nowhere";
const sentOn = "sent on";
const sentUnlessZero = "sent on; 0 is what happens anyway";
const sentUnlessFixed = "sent on; some models take their default alone";
const theDefault = "what happens anyway";
const actedUpon = "acted upon";
const changesRetention = "refused: it would change what a provider keeps";

const rows: Record<string, ChatRow> = {
  metadata: {
    ...nullable(checkOnly(metadata), "A label of yours: up to 16 pairs of texts. Sent to nobody"),
    accepts: "at most 16 pairs; keys of 64, strings of 512 characters",
    effect: label,
  },
  top_logprobs: {
    ...nullable(topLogprobs, "How many of the likeliest tokens to tell at each place; needs `logprobs`"),
    needs: "logprobs",
    accepts: "0 to 20, with `logprobs: true`",
    effect: sentOn,
  },
  temperature: {
    ...nullable(honorDefaultOnly(1, numberFrom(0, temperatureMax)), "How freely the model samples: 0 is the least"),
    accepts: "0 to 2",
    effect: sentUnlessFixed,
  },
  top_p: {
    ...nullable(honorDefaultOnly(1, numberFrom(0, 1)), "Samples among the likeliest tokens that together have this probability"),
    accepts: "0 to 1",
    effect: sentUnlessFixed,
  },
  user: {
    ...optional(checkOnly(anyString), "A label of yours. Sent to nobody"),
    accepts: "a string",
    effect: label,
  },
  safety_identifier: {
    ...nullable(checkOnly(string(64)), "A label of yours. Sent to nobody"),
    accepts: "at most 64 characters",
    effect: label,
  },
  prompt_cache_key: {
    ...nullable(checkOnly(anyString), "A label of yours. Sent to nobody"),
    accepts: "a string",
    effect: label,
  },
  prompt_cache_retention: {
    ...nullable(notSupported, "Not supported: only null"),
    accepts: "nothing",
    effect: changesRetention,
  },
  prompt_cache_options: {
    ...optional(notSupported, "Not supported"),
    accepts: "nothing",
    effect: changesRetention,
  },
  service_tier: {
    ...nullable(acceptOnly(["auto", "default"], "the default tier"), "Only the provider's default tier is supported"),
    accepts: "`auto`, `default`",
    effect: "what happens anyway; other tiers have other prices and are refused",
  },
  modalities: {
    ...nullable(modalities, "Only text content is supported"),
    accepts: '`["text"]`',
    effect: theDefault,
  },
  verbosity: {
    ...nullable(oneOf("low", "medium", "high"), "How much the model says"),
    needs: "verbosity",
    accepts: "`low`, `medium`, `high`",
    effect: sentOn,
  },
  reasoning_effort: {
    ...nullable(oneOf(...efforts), "How much the model thinks before it answers"),
    needs: "reasoning",
    accepts: "`none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`",
    effect: sentOn,
  },
  max_completion_tokens: {
    ...nullable(maxTokens, `${cappedOutput}. At most the model's \`max_output_tokens\`, which is also the default`),
    accepts: "1 to the model's `max_output_tokens`",
    effect: "bounds the answer, its reasoning included, and what is reserved",
  },
  frequency_penalty: {
    ...nullable(penalty, "Above 0 the model repeats itself less, the more often it has"),
    needs: "penalties",
    accepts: "-2 to 2",
    effect: sentUnlessZero,
  },
  presence_penalty: {
    ...nullable(penalty, "Above 0 the model repeats itself less, however often it has"),
    needs: "penalties",
    accepts: "-2 to 2",
    effect: sentUnlessZero,
  },
  web_search_options: {
    ...optional(notSupported, "Not supported"),
    accepts: "nothing",
    effect: "refused: searches are billed beyond tokens",
  },
  response_format: {
    ...optional(responseFormat, "In what form the model answers"),
    accepts: "`text`; `json_object`; `json_schema` with `name`, `schema`, `description`, `strict`",
    effect: "sent on, where the model supports `json_object` or `json_schema`",
  },
  audio: {
    ...nullable(notSupported, "Not supported: only null"),
    accepts: "nothing",
    effect: "refused: only text",
  },
  store: {
    ...nullable(acceptOnly([false], "store=false"), "Only false is supported: nothing is stored at the provider"),
    accepts: "`false`",
    effect: theDefault,
  },
  moderation: {
    ...nullable(notSupported, "Not supported: only null"),
    accepts: "nothing",
    effect: "refused",
  },
  stream: {
    ...nullable(checkOnly(boolean), "Whether the answer is sent as server-sent events while the model writes it"),
    accepts: "`true`, `false`",
    effect: actedUpon,
  },
  stop: {
    ...nullable(stop, "Texts at which the model stops; they are not part of the answer"),
    accepts: "a string, or at most 4",
    effect: sentOn,
  },
  logit_bias: {
    ...nullable(logitBias, "By token id of the model: how much likelier it becomes, from -100 to 100"),
    needs: "logit_bias",
    accepts: "token ids with -100 to 100",
    effect: sentOn,
  },
  logprobs: {
    ...nullable(omitIf(isFalse, boolean), "Whether to tell the log probability of each token"),
    needs: "logprobs",
    accepts: "`true`, `false`",
    effect: "sent on; `false` is what happens anyway",
  },
  max_tokens: {
    ...nullable(maxTokens, `Older name of \`max_completion_tokens\`. ${cappedOutput}`),
    accepts: "as `max_completion_tokens`; the two must agree",
    effect: "bounds the answer and what is reserved",
  },
  n: {
    ...nullable(acceptOnly([1], "n=1"), "How many answers: only n=1 is supported"),
    accepts: "1",
    effect: theDefault,
  },
  prediction: {
    ...nullable(prediction, "What the answer will largely be, for it to come sooner"),
    needs: "prediction",
    accepts: '`{type: "content", content}` of text',
    effect: sentOn,
  },
  seed: {
    ...nullable(anyInteger, "The same seed gives the same answer, as far as the provider can"),
    needs: "seed",
    accepts: "a whole number",
    effect: sentOn,
  },
  stream_options: {
    ...nullable(checkOnly(streamOptions), "What a stream tells; needs `stream`"),
    accepts: "`include_usage`; `include_obfuscation: false`; with `stream: true` alone",
    effect: actedUpon,
  },
  tools: {
    ...optional(tools, "What the model may call"),
    needs: "tools",
    accepts: "functions, and custom tools where the model supports `custom_tools`",
    effect: "sent on; an empty list is no tools",
  },
  tool_choice: {
    ...optional(toolChoice, "Whether the model may, must or must not call a tool, or which one"),
    needs: "tools",
    accepts: "`none`, `auto`, `required`, a named tool, allowed tools",
    effect: "sent on; without tools `none` and `auto` say nothing and the rest is refused",
  },
  parallel_tool_calls: {
    ...optional(parallelToolCalls, "Whether the model may make several calls at once"),
    needs: "tools",
    accepts: "`true`, `false`",
    effect: "sent on with tools; with `false` the client gets only the first of several calls",
  },
  function_call: {
    ...optional(legacyFunctionChoice, "Older form of `tool_choice`"),
    needs: "functions",
    accepts: "`none`, `auto`, `{name}`",
    effect: sentOn,
  },
  functions: {
    ...optional(legacyFunctions, "Older form of `tools`"),
    needs: "functions",
    accepts: "1 to 128",
    effect: sentOn,
  },
};

export const chatFields: readonly ChatField[] = Object.entries(rows).map(([name, row]) => ({ name, ...row }));

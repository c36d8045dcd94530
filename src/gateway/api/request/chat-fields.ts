/**
 * The table of the request's fields: every field of the official schema but `model` and `messages`, in the schema's order
 * (https://github.com/openai/openai-openapi, CreateChatCompletionRequest), and additions after them. The check of requests, the OpenAPI
 * description and the table in docs/reference/inference.md (scripts/inference-tables.ts) are made from it, so a field is added in one row.
 * No field is dropped in silence. It is sent on, handled by the gateway, checked and kept (labels), or refused where it would change the
 * answer, the retention or the price in a way that no provider here supports.
 */
import { temperatureMax } from "../../limits.ts";
import { reasoningEfforts } from "../../models/model.ts";
import { cacheControl, legacyFunctionChoice, legacyFunctions, parallelToolCalls, toolChoice, tools } from "./chat-parts.ts";
import {
  acceptOnly,
  honorDefaultOnly,
  logitBias,
  maxTokens,
  metadata,
  modalities,
  notSupported,
  prediction,
  responseFormat,
  seed,
  stop,
  streamOptions,
  topLogprobs,
  usageOptions,
} from "./chat-options.ts";
import { checkOnly, added, anyString, boolean, nullable, numberFrom, omitIf, oneOf, string, type Field } from "./read-value.ts";
import type { SupportWord } from "./requested-model.ts";

interface ChatRow extends Field {
  /** The word that a model must support for this field, unless the value asks for the default. */
  needs?: SupportWord;
  /** The accepted values, as docs/reference/inference.md shows them. */
  accepts: string;
  /** What the gateway does with the field, as docs/reference/inference.md shows it. */
  effect: string;
}

export interface ChatField extends ChatRow {
  name: string;
}

const isZero = (value: unknown): boolean => value === 0;
const isFalse = (value: unknown): boolean => value === false;
const penalty = omitIf(isZero, numberFrom(-2, 2));
const cappedOutput = "The most tokens of the answer, its reasoning included. Limits the cost that is reserved";

const label = "label, not sent on";
const sentOn = "sent on";
const sentUnlessZero = "sent on, except 0";
const sentUnlessFixed = "some models: only their default";
const theDefault = "none: the default";
const handled = "by the gateway";
const changesRetention = "refused: changes what a provider retains";

const rows: Record<string, ChatRow> = {
  metadata: {
    ...nullable(checkOnly(metadata), "Your label: up to 16 pairs of texts. Not sent on"),
    accepts: "16 pairs; keys of 64, texts of 512 characters",
    effect: label,
  },
  top_logprobs: {
    ...nullable(topLogprobs, "How many of the likeliest tokens to return at each position; needs `logprobs`"),
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
    ...nullable(checkOnly(anyString), "Your label. Not sent on"),
    accepts: "a string",
    effect: label,
  },
  safety_identifier: {
    ...nullable(checkOnly(string(64)), "Your label. Not sent on"),
    accepts: "at most 64 characters",
    effect: label,
  },
  prompt_cache_key: {
    ...nullable(checkOnly(anyString), "Your label. Not sent on"),
    accepts: "a string",
    effect: label,
  },
  prompt_cache_retention: {
    ...nullable(notSupported, "Not supported: only null"),
    accepts: "nothing",
    effect: changesRetention,
  },
  prompt_cache_options: {
    ...nullable(notSupported, "Not supported"),
    accepts: "nothing",
    effect: changesRetention,
  },
  service_tier: {
    ...nullable(acceptOnly(["auto", "default"], "the default tier"), "Only the provider's default tier is supported"),
    accepts: "`auto`, `default`",
    effect: "none: other tiers have other prices",
  },
  modalities: {
    ...nullable(modalities, "Only text content is supported"),
    accepts: '`["text"]`',
    effect: theDefault,
  },
  verbosity: {
    ...nullable(oneOf("low", "medium", "high"), "How verbose the answer is"),
    needs: "verbosity",
    accepts: "`low`, `medium`, `high`",
    effect: sentOn,
  },
  reasoning_effort: {
    ...nullable(oneOf(...reasoningEfforts), "How much the model reasons before it answers"),
    needs: "reasoning",
    accepts: "`none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`",
    effect: "fitted to the model",
  },
  max_completion_tokens: {
    ...nullable(
      maxTokens,
      `${cappedOutput}. At most the model's \`max_output_tokens\`, which is also the default where the prompt leaves room for it`,
    ),
    accepts: "1 to the model's `max_output_tokens`",
    effect: "limits answer, reasoning and reservation",
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
    ...nullable(notSupported, "Not supported"),
    accepts: "nothing",
    effect: "refused: billed beyond tokens",
  },
  response_format: {
    ...nullable(responseFormat, "The form of the answer"),
    accepts: "`text`; `json_object`; `json_schema` with `name`, `schema`, `description`, `strict`",
    effect: sentOn,
  },
  audio: {
    ...nullable(notSupported, "Not supported: only null"),
    accepts: "nothing",
    effect: "refused",
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
    effect: handled,
  },
  stop: {
    ...nullable(stop, "Texts at which the model stops; they are not part of the answer"),
    accepts: "a string, or at most 4",
    effect: sentOn,
  },
  logit_bias: {
    ...nullable(logitBias, "By token id of the model: how much likelier the token becomes, from -100 to 100"),
    needs: "logit_bias",
    accepts: "token ids with -100 to 100",
    effect: sentOn,
  },
  logprobs: {
    ...nullable(omitIf(isFalse, boolean), "Whether to return the log probability of each token"),
    needs: "logprobs",
    accepts: "`true`, `false`",
    effect: "sent on, except `false`",
  },
  max_tokens: {
    ...nullable(maxTokens, `Older name of \`max_completion_tokens\`. ${cappedOutput}`),
    accepts: "as `max_completion_tokens`; both must be equal",
    effect: "limits the same",
  },
  n: {
    ...nullable(acceptOnly([1], "n=1"), "How many answers: only n=1 is supported"),
    accepts: "1",
    effect: theDefault,
  },
  prediction: {
    ...nullable(prediction, "Most of the expected answer, which speeds it up"),
    needs: "prediction",
    accepts: '`{type: "content", content}` of text',
    effect: sentOn,
  },
  seed: {
    ...nullable(seed, "The same seed gives the same answer, as far as the provider guarantees it"),
    needs: "seed",
    accepts: "a whole number of 64 bits",
    effect: "beyond 2^53 as a smaller one, always the same",
  },
  stream_options: {
    ...nullable(checkOnly(streamOptions), "Options of a stream; needs `stream`"),
    accepts: "`include_usage`, `include_obfuscation: false`; with `stream: true`",
    effect: handled,
  },
  tools: {
    ...nullable(tools, "The tools that the model may call"),
    needs: "tools",
    accepts: "functions, custom tools",
    effect: "sent on, except an empty list",
  },
  tool_choice: {
    ...nullable(toolChoice, "Whether the model may, must or must not call a tool, or which tool"),
    needs: "tools",
    accepts: "`none`, `auto`, `required`, a named tool, allowed tools",
    effect: "sent on; without tools only `none` and `auto`, without effect",
  },
  parallel_tool_calls: {
    ...nullable(parallelToolCalls, "Whether the model may make several calls at once"),
    needs: "tools",
    accepts: "`true`, `false`",
    effect: "sent on with tools; `false` gives only the first of several calls",
  },
  function_call: {
    ...nullable(legacyFunctionChoice, "Older form of `tool_choice`"),
    needs: "functions",
    accepts: "`none`, `auto`, `{name}`",
    effect: sentOn,
  },
  functions: {
    ...nullable(legacyFunctions, "Older form of `tools`"),
    needs: "functions",
    accepts: "1 to 128 functions",
    effect: sentOn,
  },
  cache_control: {
    ...cacheControl("the last part that can be cached"),
    needs: "cache_control",
    accepts: '`{type: "ephemeral"}`, also with `ttl: "5m"`',
    effect: sentOn,
  },
  usage: {
    ...added(checkOnly(usageOptions), "Asks for the charge in the usage of the answer"),
    accepts: "`{include: true}`, `{include: false}`",
    effect: "`true`: the usage has the charge",
  },
};

export const chatFields: readonly ChatField[] = Object.entries(rows).map(([name, row]) => ({ name, ...row }));

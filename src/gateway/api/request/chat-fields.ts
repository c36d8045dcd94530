/**
 * Every field of the official request schema but `model` and `messages`, in its order
 * (https://github.com/openai/openai-openapi, CreateChatCompletionRequest).
 */
import { temperatureMax } from "../../limits.ts";
import {
  logitBias,
  checkOnly,
  maxTokens,
  modalities,
  notSupported,
  acceptOnly,
  metadata,
  prediction,
  responseFormat,
  stop,
  streamOptions,
  topLogprobs,
  honorDefaultOnly,
} from "./chat-options.ts";
import { legacyFunctionChoice, legacyFunctions, parallelToolCalls, toolChoice, tools } from "./chat-tools.ts";
import { anyString, boolean, integerFrom, numberFrom, oneOf, string, omitIf, type Field } from "./read-value.ts";
import type { SupportWord } from "./supports.ts";

export interface ChatField extends Field {
  name: string;
  /** What the model must support for it, unless it says nothing. */
  needs?: SupportWord;
}

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const isZero = (value: unknown): boolean => value === 0;
const isFalse = (value: unknown): boolean => value === false;
const penalty = omitIf(isZero, numberFrom(-2, 2));

export const chatFields: readonly ChatField[] = [
  { name: "metadata", nullable: true, read: checkOnly(metadata) },
  { name: "top_logprobs", nullable: true, read: topLogprobs, needs: "logprobs" },
  { name: "temperature", nullable: true, read: honorDefaultOnly(1, numberFrom(0, temperatureMax)) },
  { name: "top_p", nullable: true, read: honorDefaultOnly(1, numberFrom(0, 1)) },
  { name: "user", read: checkOnly(anyString) },
  { name: "safety_identifier", nullable: true, read: checkOnly(string(64)) },
  { name: "prompt_cache_key", nullable: true, read: checkOnly(anyString) },
  { name: "prompt_cache_retention", nullable: true, read: notSupported },
  { name: "prompt_cache_options", read: notSupported },
  { name: "service_tier", nullable: true, read: acceptOnly(["auto", "default"], "the default tier") },
  { name: "modalities", nullable: true, read: modalities },
  { name: "verbosity", nullable: true, read: oneOf("low", "medium", "high"), needs: "verbosity" },
  { name: "reasoning_effort", nullable: true, read: oneOf(...efforts), needs: "reasoning" },
  { name: "max_completion_tokens", nullable: true, read: maxTokens },
  { name: "frequency_penalty", nullable: true, read: penalty, needs: "penalties" },
  { name: "presence_penalty", nullable: true, read: penalty, needs: "penalties" },
  { name: "web_search_options", read: notSupported },
  { name: "response_format", read: responseFormat },
  { name: "audio", nullable: true, read: notSupported },
  { name: "store", nullable: true, read: acceptOnly([false], "store=false") },
  { name: "moderation", nullable: true, read: notSupported },
  { name: "stream", nullable: true, read: checkOnly(boolean) },
  { name: "stop", nullable: true, read: stop },
  { name: "logit_bias", nullable: true, read: logitBias, needs: "logit_bias" },
  { name: "logprobs", nullable: true, read: omitIf(isFalse, boolean), needs: "logprobs" },
  { name: "max_tokens", nullable: true, read: maxTokens },
  { name: "n", nullable: true, read: acceptOnly([1], "n=1") },
  { name: "prediction", nullable: true, read: prediction, needs: "prediction" },
  { name: "seed", nullable: true, read: integerFrom(Number.MIN_SAFE_INTEGER), needs: "seed" },
  { name: "stream_options", nullable: true, read: checkOnly(streamOptions) },
  { name: "tools", read: tools, needs: "tools" },
  { name: "tool_choice", read: toolChoice, needs: "tools" },
  { name: "parallel_tool_calls", read: parallelToolCalls, needs: "tools" },
  { name: "function_call", read: legacyFunctionChoice, needs: "functions" },
  { name: "functions", read: legacyFunctions, needs: "functions" },
];

/**
 * Every field of the official request schema but `model` and `messages`, in its order
 * (https://github.com/openai/openai-openapi, CreateChatCompletionRequest).
 */
import { temperatureMax } from "../../limits.ts";
import {
  biases,
  label,
  maxTokens,
  modalities,
  notOffered,
  only,
  pairs,
  prediction,
  responseFormat,
  stop,
  streamOptions,
  topLogprobs,
  unlessFixed,
} from "./chat-options.ts";
import { oldFunctionChoice, oldFunctions, parallelToolCalls, toolChoice, tools } from "./chat-tools.ts";
import { flag, integerFrom, numberFrom, oneOf, text, unless, type Field } from "./read-value.ts";
import type { Support } from "./supports.ts";

export interface ChatField extends Field {
  name: string;
  /** What the model must support for it, unless it says nothing. */
  needs?: Support;
}

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const isZero = (value: unknown): boolean => value === 0;
const isFalse = (value: unknown): boolean => value === false;
const penalty = unless(isZero, numberFrom(-2, 2));

export const chatFields: readonly ChatField[] = [
  { name: "metadata", nullable: true, read: label(pairs) },
  { name: "top_logprobs", nullable: true, read: topLogprobs, needs: "logprobs" },
  { name: "temperature", nullable: true, read: unlessFixed(1, numberFrom(0, temperatureMax)) },
  { name: "top_p", nullable: true, read: unlessFixed(1, numberFrom(0, 1)) },
  { name: "user", read: label(text()) },
  { name: "safety_identifier", nullable: true, read: label(text(64)) },
  { name: "prompt_cache_key", nullable: true, read: label(text()) },
  { name: "prompt_cache_retention", nullable: true, read: notOffered },
  { name: "prompt_cache_options", read: notOffered },
  { name: "service_tier", nullable: true, read: only(["auto", "default"], "the default tier") },
  { name: "modalities", nullable: true, read: modalities },
  { name: "verbosity", nullable: true, read: oneOf("low", "medium", "high"), needs: "verbosity" },
  { name: "reasoning_effort", nullable: true, read: oneOf(...efforts), needs: "reasoning" },
  { name: "max_completion_tokens", nullable: true, read: maxTokens },
  { name: "frequency_penalty", nullable: true, read: penalty, needs: "penalties" },
  { name: "presence_penalty", nullable: true, read: penalty, needs: "penalties" },
  { name: "web_search_options", read: notOffered },
  { name: "response_format", read: responseFormat },
  { name: "audio", nullable: true, read: notOffered },
  { name: "store", nullable: true, read: only([false], "store=false") },
  { name: "moderation", nullable: true, read: notOffered },
  { name: "stream", nullable: true, read: label(flag) },
  { name: "stop", nullable: true, read: stop },
  { name: "logit_bias", nullable: true, read: biases, needs: "logit_bias" },
  { name: "logprobs", nullable: true, read: unless(isFalse, flag), needs: "logprobs" },
  { name: "max_tokens", nullable: true, read: maxTokens },
  { name: "n", nullable: true, read: only([1], "n=1") },
  { name: "prediction", nullable: true, read: prediction, needs: "prediction" },
  { name: "seed", nullable: true, read: integerFrom(Number.MIN_SAFE_INTEGER), needs: "seed" },
  { name: "stream_options", nullable: true, read: label(streamOptions) },
  { name: "tools", read: tools, needs: "tools" },
  { name: "tool_choice", read: toolChoice, needs: "tools" },
  { name: "parallel_tool_calls", read: parallelToolCalls, needs: "tools" },
  { name: "function_call", read: oldFunctionChoice, needs: "functions" },
  { name: "functions", read: oldFunctions, needs: "functions" },
];

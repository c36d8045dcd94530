/** Twelve providers of the catalog as mocks that answer 400 to what the real ones refuse. No vendor was called: the rules are those of public reports. */
import { message } from "./anthropic-answers.ts";
import { googleChat } from "./google-answers.ts";
import { chunk, completion, json, stream, usageOf, type StubAnswer } from "./stub-answers.ts";
import {
  all,
  anthropicSignature,
  anthropicTurns,
  assistantSpeaks,
  callsAnswered,
  contentAlways,
  googleContents,
  googleSignatures,
  namesOfUsers,
  neverAfter,
  noEmptyParts,
  oneInstruction,
  onlyFields,
  reasoningWithCalls,
  roles,
  textsAlone,
  toolCallIds,
  userLast,
  type Message,
  type Rule,
} from "./strict-messages.ts";

/** `thought`: reasoning alone, for its tokens are used up. */
export type AnswerKind = "calls" | "text" | "thought";

export interface StrictProvider {
  /** In the catalog. */
  provider: string;
  model: string;
  refuses: Rule;
  answer(kind: AnswerKind): StubAnswer;
}

const weather = (city: string) => ({ city });
const cities = ["Paris", "Oslo"];
export const thought = "The user wants both.";
const others = ["system", "user", "assistant", "tool"];

/** An id for the n-th call of a provider, in its own form. */
type IdOf = (n: number) => string;
let made = 0;

function hex(characters: number): string {
  return (made++).toString(16).padStart(characters, "0");
}

interface OpenaiMock {
  idOf: IdOf;
  /** The message's field with reasoning; `parts`: as parts of the content; null: it tells none. */
  reasoning: "reasoning_content" | "reasoning" | "parts" | null;
}

function openaiAnswer({ idOf, reasoning }: OpenaiMock, kind: AnswerKind): StubAnswer {
  const text = kind === "text" ? "It rains in both." : "";
  const calls = kind === "calls" ? cities.map((city, n) => callOf(idOf(n), city)) : [];
  const thinking = { type: "thinking", thinking: [{ type: "text", text: thought }] };
  const content = reasoning === "parts" ? [thinking, { type: "text", text }] : text === "" ? null : text;
  const said = {
    content,
    ...(reasoning !== null && reasoning !== "parts" && { [reasoning]: thought }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const finish = { calls: "tool_calls", text: "stop", thought: "length" }[kind];
  const whole = json({ ...completion({ role: "assistant", ...said }, finish), usage: usageOf(10, 5) });
  const streamed = stream([
    chunk({
      role: "assistant",
      ...said,
      ...(calls.length > 0 && { tool_calls: calls.map((call, index) => ({ index, ...call })) }),
    }),
    chunk({}, finish),
    { choices: [], usage: usageOf(10, 5) },
  ]);
  return (response, call) => (call.streamed ? streamed : whole)(response, call);
}

function callOf(id: string, city: string): Message {
  return { id, type: "function", function: { name: "weather", arguments: JSON.stringify(weather(city)) } };
}

function openai(provider: string, model: string, mock: OpenaiMock, ...rules: Rule[]): StrictProvider {
  return { provider, model, refuses: all(callsAnswered, ...rules), answer: (kind) => openaiAnswer(mock, kind) };
}

const tools = { tool: ["tool_call_id"] };

export const strictProviders: readonly StrictProvider[] = [
  openai(
    "openai",
    "openai/gpt-5.1",
    { idOf: () => `call_${hex(24)}`, reasoning: null },
    roles("developer", ...others),
    onlyFields({ ...tools, developer: ["name"], system: ["name"], user: ["name"], assistant: ["name", "refusal", "tool_calls"] }),
    toolCallIds((id) => id.length <= 40, "the maximum length is 40"),
  ),
  openai(
    "mistral",
    "mistral/mistral-medium-3.5",
    { idOf: () => hex(9), reasoning: "parts" },
    roles(...others),
    onlyFields({ ...tools, assistant: ["tool_calls", "prefix"] }),
    toolCallIds((id) => /^[a-zA-Z0-9]{9}$/.test(id), "must be a-z, A-Z, 0-9, with a length of 9."),
    assistantSpeaks,
    neverAfter({ tool: ["user", "system"], assistant: ["system"] }),
    userLast,
  ),
  {
    provider: "anthropic",
    model: "anthropic/claude-opus-4-6",
    refuses: anthropicTurns,
    answer(kind) {
      const calls =
        kind === "calls" ? cities.map((city) => ({ id: `toolu_01${hex(22)}`, name: "weather", input: weather(city) })) : [];
      const thoughts = kind === "text" ? [] : [{ type: "thinking" as const, thinking: thought, signature: anthropicSignature }];
      const said = { calls, thoughts, ...(kind === "thought" && { stop: "max_tokens" }) };
      return message(kind === "text" ? "It rains in both." : "", said);
    },
  },
  {
    provider: "google",
    model: "google/gemini-3.5-flash",
    refuses: googleContents,
    answer(kind) {
      if (kind === "text") return googleChat("It rains in both.");
      if (kind === "thought") return googleChat([{ text: thought, thought: true }], { finish: "MAX_TOKENS" });
      return googleChat(
        cities.map((city, n) => ({
          functionCall: { name: "weather", args: weather(city) },
          ...(n === 0 && { thoughtSignature: googleSignatures[0] }),
        })),
        { responseId: `R${hex(20)}` },
      );
    },
  },
  openai(
    "moonshot",
    "moonshotai/kimi-k2.6",
    { idOf: (n) => `functions.weather:${n + made++}`, reasoning: "reasoning_content" },
    roles(...others),
    reasoningWithCalls,
    assistantSpeaks,
    noEmptyParts,
  ),
  openai(
    "zai",
    "z-ai/glm-5.1",
    { idOf: () => `call_${String(8_469_015_594_668_440_000n + BigInt(made++))}`, reasoning: "reasoning_content" },
    roles(...others),
  ),
  openai(
    "groq",
    "qwen/qwen3.8-27b",
    { idOf: () => `chatcmpl-tool-${hex(32)}`, reasoning: "reasoning" },
    roles(...others),
    onlyFields({ ...tools, system: ["name"], user: ["name"], assistant: ["name", "tool_calls", "reasoning"] }),
    oneInstruction,
  ),
  openai(
    "xai",
    "x-ai/grok-4.3",
    { idOf: () => `call_${hex(8)}`, reasoning: "reasoning_content" },
    roles(...others),
    namesOfUsers,
    contentAlways,
  ),
  openai(
    "cerebras",
    "openai/gpt-oss-120b",
    { idOf: () => hex(9), reasoning: "reasoning" },
    roles(...others),
    onlyFields({ ...tools, system: ["name"], user: ["name"], assistant: ["name", "tool_calls", "reasoning"] }),
    textsAlone,
  ),
  openai(
    "xiaomi",
    "xiaomi/mimo-v2.6-pro",
    { idOf: () => `call_${hex(24)}`, reasoning: "reasoning_content" },
    roles(...others),
    reasoningWithCalls,
    contentAlways,
  ),
  openai(
    "minimax",
    "minimax/minimax-m2.7-highspeed",
    { idOf: () => `call_function_${hex(12)}_1`, reasoning: "reasoning_content" },
    roles(...others),
    oneInstruction,
  ),
  openai(
    "alibaba",
    "qwen/qwen-plus",
    { idOf: () => `call_${hex(22)}`, reasoning: "reasoning_content" },
    roles(...others),
    oneInstruction,
  ),
];

/** The messages in a provider's own form: of chat completions, or turns of another API. */
export function messagesIn(body: Record<string, unknown>): Message[] {
  return (body["messages"] ?? body["contents"] ?? []) as Message[];
}

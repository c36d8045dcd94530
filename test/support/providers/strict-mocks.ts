/** Makes mocks of models, by wire format, that answer 400 to what the real ones refuse, and otherwise what the test asks for. */
import { message } from "./anthropic-answers.ts";
import { googleChat } from "./google-answers.ts";
import { response } from "./responses-answers.ts";
import { claudeRefusal, claudeRules } from "./strict-claude.ts";
import { gptRules, responsesRefusal } from "./strict-responses.ts";
import { chunk, completion, json, stream, usageOf, type StubAnswer } from "./stub-answers.ts";
import {
  all,
  anthropicSignature,
  anthropicTurns,
  callsAnswered,
  googleContents,
  googleSignatures,
  type Message,
  type Rule,
} from "./strict-messages.ts";

/** `thought`: reasoning alone, because its tokens are used up. */
export type AnswerKind = "calls" | "text" | "thought";

export interface StrictProvider {
  /** In the catalog. */
  provider: string;
  model: string;
  /** Of its API's calls. */
  path: RegExp;
  /** The values of `reasoning_effort` that the model takes. Empty: none. */
  efforts: readonly string[];
  /** The model takes a temperature. */
  samples: boolean;
  /** @returns why the API refuses the body of a call; null: it takes it */
  refuses(body: Message): string | null;
  answer(kind: AnswerKind): StubAnswer;
}

const weather = (city: string) => ({ city });
const cities = ["Paris", "Oslo"];
export const thought = "The user wants both.";

/** An id for the n-th call of a provider, in its own form. */
export type IdOf = (n: number) => string;
let made = 0;

/** A number that no other id has. */
export function unique(): number {
  return made++;
}

export function hex(characters: number): string {
  return unique().toString(16).padStart(characters, "0");
}

interface OpenaiMock {
  idOf: IdOf;
  /** The message's field with reasoning; `parts`: as parts of the content; null: it tells none. */
  reasoning: "reasoning_content" | "reasoning" | "parts" | null;
  efforts?: readonly string[];
  /** `fixed`: only the default temperature. `unless reasoning`: none together with an effort. */
  sampling?: "fixed" | "unless reasoning";
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

export function openai(provider: string, model: string, mock: OpenaiMock, ...rules: Rule[]): StrictProvider {
  const refusesMessages = all(callsAnswered, ...rules);
  return {
    provider,
    model,
    path: /\/chat\/completions$/,
    efforts: mock.efforts ?? [],
    samples: mock.sampling !== "fixed",
    refuses: (body) => refusesMessages(turnsIn(body, "messages")) ?? optionRefusal(mock, body),
    answer: (kind) => openaiAnswer(mock, kind),
  };
}

function turnsIn(body: Message, field: "messages" | "contents"): Message[] {
  return (body[field] ?? []) as Message[];
}

function optionRefusal(
  { efforts = [], sampling }: OpenaiMock,
  { reasoning_effort: effort, temperature }: Message,
): string | null {
  if (effort !== undefined && !efforts.includes(String(effort))) {
    return `'reasoning_effort' does not support '${String(effort)}' with this model. Supported values are: ${efforts.join(", ")}`;
  }
  if (temperature === undefined || sampling === undefined) return null;
  if (sampling === "fixed") return temperature === 1 ? null : "invalid temperature: only 1 is allowed for this model";
  const words = "Unsupported parameter: 'temperature' is not supported with this model.";
  return effort === undefined || effort === "none" ? null : words;
}

/** @param levels of thinking, which are its efforts */
export function google(model: string, levels: readonly string[]): StrictProvider {
  return {
    provider: "google",
    model,
    path: /:(generateContent|streamGenerateContent\?alt=sse)$/,
    efforts: levels,
    samples: true,
    refuses(body) {
      const { thinkingConfig } = (body["generationConfig"] ?? {}) as { thinkingConfig?: Message };
      const level = thinkingConfig?.["thinkingLevel"];
      const isKnown = level === undefined || levels.some((one) => one.toUpperCase() === level);
      return googleContents(turnsIn(body, "contents")) ?? (isKnown ? null : `Thinking level ${String(level)} is not supported`);
    },
    answer(kind) {
      if (kind === "text") return googleChat("It rains in both.");
      if (kind === "thought") return googleChat([{ text: thought, thought: true }], { finish: "MAX_TOKENS" });
      const calls = cities.map((city, n) => ({
        functionCall: { name: "weather", args: weather(city) },
        ...(n === 0 && { thoughtSignature: googleSignatures[0] }),
      }));
      return googleChat(calls, { responseId: `R${hex(20)}` });
    },
  };
}

/** OpenAI's Responses API. The model reads its own reasoning and no other's, and gives a summary of it on request. */
export function responses(name: string): StrictProvider {
  const rules = gptRules[name] ?? { efforts: [], defaultEffort: "none" };
  const own = new Map<string, string>();
  return {
    provider: "openai",
    model: `openai/${name}`,
    path: /\/responses$/,
    efforts: rules.efforts,
    samples: rules.defaultEffort === "none",
    refuses: (body) => responsesRefusal({ path: "/v1/responses", body }, own)?.message ?? null,
    answer: (kind) => (answer, call) => {
      const encrypted = Buffer.from(`reasoning ${hex(14)}`).toString("base64url");
      const { summary } = (call.body["reasoning"] ?? {}) as Message;
      const calls = cities.map((city) => {
        return { call_id: `call_${hex(24)}`, name: "weather", arguments: JSON.stringify(weather(city)) };
      });
      own.set(encrypted, calls[0]?.call_id ?? "");
      const said = response(kind === "text" ? "It rains in both." : "", {
        encrypted,
        summary: summary === undefined ? [] : [thought],
        ...(kind === "calls" && { calls }),
        ...(kind === "thought" && { incomplete: "max_output_tokens" }),
      });
      return said(answer, call);
    },
  };
}

export function claude(name: string): StrictProvider {
  return {
    provider: "anthropic",
    model: `anthropic/${name}`,
    path: /\/messages$/,
    efforts: claudeRules[name]?.efforts ?? [],
    samples: true,
    refuses: (body) => anthropicTurns(turnsIn(body, "messages")) ?? claudeRefusal(body),
    answer(kind) {
      const calls =
        kind === "calls" ? cities.map((city) => ({ id: `toolu_01${hex(22)}`, name: "weather", input: weather(city) })) : [];
      const thoughts = kind === "text" ? [] : [{ type: "thinking" as const, thinking: thought, signature: anthropicSignature }];
      const said = { calls, thoughts, ...(kind === "thought" && { stop: "max_tokens" }) };
      return message(kind === "text" ? "It rains in both." : "", said);
    },
  };
}

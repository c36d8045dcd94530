/** What the mock provider answers, in the form of three APIs, as texts that are made once. They are split where the time of sending stands. */
import type { AgentApi } from "./load/agent-body.ts";

export interface AnswerTexts {
  whole: string;
  /** The events of a stream: its first, those with a time, its last ones. */
  events: string[][];
  /** All of them, joined. */
  stream: string[];
}

/** Stands in place of the time. */
const mark = "\u0000";
const word = `${mark} word `;
const promptTokens = 20;

export function answerTexts(api: AgentApi, events: number): AnswerTexts {
  const { whole, stream } = apis[api](events);
  const written = JSON.stringify(mark).slice(1, -1);
  const split = (text: string): string[] => text.split(written);
  return { whole: JSON.stringify(whole), events: stream.map(split), stream: split(stream.join("")) };
}

interface Made {
  whole: unknown;
  stream: string[];
}

const apis: Record<AgentApi, (events: number) => Made> = {
  chat: chatAnswer,
  messages: messagesAnswer,
  responses: responsesAnswer,
};

function said(events: number): string {
  return "word ".repeat(events).trimEnd();
}

// Chat completions

const chatHead = { id: "chatcmpl-mock", created: 1_700_000_000, model: "mock" };

function chatAnswer(events: number): Made {
  const usage = { prompt_tokens: promptTokens, completion_tokens: events, total_tokens: promptTokens + events };
  const message = { role: "assistant", content: said(events), refusal: null };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }];
  const last = { ...chatHead, object: "chat.completion.chunk", choices: [], usage };
  return {
    whole: { ...chatHead, object: "chat.completion", choices, usage },
    stream: [
      chatChunk({ role: "assistant", content: "" }, null),
      ...Array.from({ length: events }, () => chatChunk({ content: word }, null)),
      chatChunk({}, "stop"),
      `data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`,
    ],
  };
}

function chatChunk(delta: Record<string, unknown>, finish: string | null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...chatHead, object: "chat.completion.chunk", choices, usage: null })}\n\n`;
}

// Messages

const messageHead = { id: "msg_mock", type: "message", role: "assistant", model: "mock" };

function messagesAnswer(events: number): Made {
  const usage = { input_tokens: promptTokens, output_tokens: events };
  const stop = { stop_reason: "end_turn", stop_sequence: null };
  const begun = { ...messageHead, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } };
  const delta = { type: "text_delta", text: word };
  return {
    whole: { ...messageHead, content: [{ type: "text", text: said(events) }], ...stop, usage },
    stream: [
      { type: "message_start", message: begun },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      ...Array.from({ length: events }, () => ({ type: "content_block_delta", index: 0, delta })),
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: stop, usage: { output_tokens: events } },
      { type: "message_stop" },
    ].map(eventText),
  };
}

// Responses

const responseHead = { id: "resp_mock", object: "response", created_at: 1_700_000_000, model: "mock" };
const place = { item_id: "msg_mock", output_index: 0, content_index: 0 };

function responsesAnswer(events: number): Made {
  const part = { type: "output_text", text: said(events), annotations: [], logprobs: [] };
  const item = { id: "msg_mock", type: "message", status: "completed", role: "assistant", content: [part] };
  const usage = {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: events,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: promptTokens + events,
  };
  const whole = { ...responseHead, status: "completed", error: null, incomplete_details: null, output: [item], usage };
  const begun = { ...whole, status: "in_progress", output: [], usage: null };
  const stream = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
    { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
    ...Array.from({ length: events }, () => ({ type: "response.output_text.delta", ...place, delta: word, logprobs: [] })),
    { type: "response.output_text.done", ...place, text: said(events), logprobs: [] },
    { type: "response.content_part.done", ...place, part },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: whole },
  ];
  return { whole, stream: stream.map((event, number) => eventText({ ...event, sequence_number: number })) };
}

function eventText(event: { type: string; sequence_number?: number }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

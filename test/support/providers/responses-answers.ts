/**
 * Answers of a provider stub for the Responses API: whole or streamed as the call requests. Like OpenAI's, it refuses what its API
 * does not take.
 */
import { chat, json, rawStream, type StubAnswer } from "./stub-answers.ts";
import { responsesRefusal } from "./strict-responses.ts";

type Json = Record<string, unknown>;

export interface ResponseOptions {
  /** Calls of tools after the text. An `input` makes it a call of a custom tool. */
  calls?: { call_id: string; name: string; arguments?: string; input?: string }[];
  /** The encrypted reasoning before the text or the first call. */
  encrypted?: string;
  /** The parts of the summary of that reasoning. */
  summary?: string[];
  /** Pieces of a stream's text. Default: its words. */
  pieces?: string[];
  /** Why it is incomplete. Absent: it is complete. */
  incomplete?: string;
  usage?: Json | null;
}

/** A good answer, with 10 input and 5 output tokens by default. */
export function response(text: string, options: ResponseOptions = {}): StubAnswer {
  const whole = json(responseBody(text, options));
  const streamed = rawStream(...responseEvents(text, options).map(event));
  return (answer, call) => {
    const refused = responsesRefusal(call);
    return (refused === null ? (call.streamed ? streamed : whole) : refusal(400, { ...refused }))(answer, call);
  };
}

/** An error with its own status. */
export function refusal(status: number, error: Json): StubAnswer {
  return json({ error: { message: "The stub fails as configured", type: null, param: null, code: null, ...error } }, status);
}

/** One server-sent event on the wire. */
export function event(value: Json): string {
  return `event: ${String(value["type"])}\ndata: ${JSON.stringify(value)}\n\n`;
}

/** The events of a stream in their documented order. */
export function responseEvents(text: string, options: ResponseOptions = {}): Json[] {
  const whole = responseBody(text, options);
  const begun = { ...whole, status: "in_progress", output: [], incomplete_details: null, usage: null };
  const items = itemsOf(text, options);
  const events = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...items.flatMap((item, index) => itemEvents(item, index, options)),
    { type: options.incomplete === undefined ? "response.completed" : "response.incomplete", response: whole },
  ];
  return events.map((one, index) => ({ ...one, sequence_number: index }));
}

function responseBody(text: string, options: ResponseOptions): Json {
  const { incomplete, usage = responseUsage(10, 5) } = options;
  return {
    id: "resp_0Stub",
    object: "response",
    status: incomplete === undefined ? "completed" : "incomplete",
    error: null,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    model: "stub-model-2026-03-05",
    output: itemsOf(text, options),
    usage,
  };
}

export function responseUsage(input: number, output: number, { cached = 0, reasoning = 0 } = {}): Json {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

function itemsOf(text: string, { calls = [], encrypted, summary = [] }: ResponseOptions): Json[] {
  const thoughts = summary.map((words) => ({ type: "summary_text", text: words }));
  const reasoning = {
    id: "rs_1",
    type: "reasoning",
    summary: thoughts,
    ...(encrypted !== undefined && { encrypted_content: encrypted }),
  };
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return [
    ...(encrypted === undefined && summary.length === 0 ? [] : [reasoning]),
    ...(text === "" ? [] : [{ id: "msg_1", type: "message", role: "assistant", status: "completed", content }]),
    ...calls.map((call, index) => ({
      id: `fc_${index}`,
      type: call.input === undefined ? "function_call" : "custom_tool_call",
      status: "completed",
      ...call,
    })),
  ];
}

/** The item's start has none of its text, and its encrypted reasoning is complete only at its end. */
function itemEvents(item: Json, output_index: number, { pieces }: ResponseOptions): Json[] {
  const at = { item_id: item["id"], output_index };
  const cut = (text: unknown) => String(text).match(/.{1,7}/gs) ?? [];
  const inner = {
    reasoning: () =>
      list(item["summary"]).map(({ text }, summary_index) => ({
        type: "response.reasoning_summary_text.delta",
        ...at,
        summary_index,
        delta: text,
      })),
    message: () => {
      const [part] = list(item["content"]);
      const said = pieces ?? String(part?.["text"]).match(/\S+\s*|\s+/g) ?? [];
      return said.map((delta) => ({ type: "response.output_text.delta", ...at, content_index: 0, delta, logprobs: [] }));
    },
    function_call: () =>
      cut(item["arguments"]).map((delta) => ({ type: "response.function_call_arguments.delta", ...at, delta })),
    custom_tool_call: () => cut(item["input"]).map((delta) => ({ type: "response.custom_tool_call_input.delta", ...at, delta })),
  }[String(item["type"])];
  const start = {
    ...item,
    status: "in_progress",
    summary: [],
    content: [],
    arguments: "",
    input: "",
    encrypted_content: "gAAAAABpart",
  };
  return [
    { type: "response.output_item.added", output_index, item: start },
    ...(inner?.() ?? []),
    { type: "response.output_item.done", output_index, item },
  ];
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter((one): one is Json => typeof one === "object" && one !== null) : [];
}

/** As OpenAI: in the format of the path that was called. */
export function openaiResponsesAndChat(text: string): StubAnswer {
  const [ofResponses, ofChat] = [response(text), chat(text)];
  return (answer, call) => (call.path.endsWith("/responses") ? ofResponses : ofChat)(answer, call);
}

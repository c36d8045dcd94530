/**
 * A model behind any wire format that thinks before it calls its tool for two cities at once. It refuses a conversation in which a
 * call or a result did not come back as it was, and its calls without the signature of the thought before them. Asked a second time
 * it thinks and calls again; then its stream is quiet for a while in the midst of the answer.
 */
import { wireFormats } from "../../src/gateway/providers/registry.ts";
import { event } from "../support/providers/anthropic-answers.ts";
import { googleUsage } from "../support/providers/google-answers.ts";
import type { StubCall } from "../support/providers/provider-stub.ts";
import { chunk, completion, json, usageOf, type StubAnswer } from "../support/providers/stub-answers.ts";

/** What came back, in the conversation's order. */
type Item =
  | { kind: "question" }
  | { kind: "thought"; text: unknown; signature?: unknown }
  | { kind: "call"; id: unknown; city: unknown }
  | { kind: "result"; id: unknown; text: string };

interface Said {
  thinks: boolean;
  calls: { id: string; city: string }[];
  /** The pieces of the text. */
  pieces: string[];
}

interface Voice {
  /** Thoughts have signatures, without which the model refuses its calls. */
  signs: boolean;
  read(body: Json): Item[];
  say(said: Said): { whole: Json; events: string[] };
}

type Json = Record<string, unknown>;

const tool = "get_weather";
const weather: Record<string, string> = { Oslo: "7", Rome: "19" };
const thoughts = ["Both cities ", "need a forecast."];
const thought = thoughts.join("");
/** Base64, as every format has it. */
const signature = "c2lnbmVkIHRob3VnaHQ=";
/** Longer than the time after which the gateway sends a comment. */
const quietMs = 20_000;

const openai: Voice = {
  signs: false,
  read: ({ messages }) => objects(messages).flatMap(ofOpenai),
  say({ thinks, calls, pieces }) {
    const made = calls.map((call) => ({ id: call.id, type: "function", function: { name: tool, arguments: argumentsOf(call) } }));
    const finish = calls.length > 0 ? "tool_calls" : "stop";
    const usage = usageOf(10, 20);
    const message = {
      role: "assistant",
      content: pieces.join("") || null,
      ...(thinks && { reasoning_content: thought }),
      ...(calls.length > 0 && { tool_calls: made }),
    };
    const chunks = [
      chunk({ role: "assistant", content: "" }),
      ...(thinks ? thoughts : []).map((text) => chunk({ reasoning_content: text })),
      ...made.flatMap(({ id, type, function: { name, arguments: written } }, index) => [
        chunk({ tool_calls: [{ index, id, type, function: { name, arguments: "" } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: written.slice(0, 5) } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: written.slice(5) } }] }),
      ]),
      ...pieces.map((content) => chunk({ content })),
      { ...chunk({}, finish), usage },
    ];
    return { whole: { ...completion(message, finish), usage }, events: [...chunks.map(data), "data: [DONE]\n\n"] };
  },
};

function ofOpenai({ role, content, reasoning_content: text, tool_calls, tool_call_id: id }: Json): Item[] {
  if (role === "user") return [{ kind: "question" }];
  if (role === "tool") return [{ kind: "result", id, text: textOf(content) }];
  const calls = objects(tool_calls).map((call): Item => {
    const { city } = object(JSON.parse(String(object(call["function"])["arguments"])));
    return { kind: "call", id: call["id"], city };
  });
  return text === undefined ? calls : [{ kind: "thought", text }, ...calls];
}

const anthropic: Voice = {
  signs: true,
  read: ({ messages }) =>
    objects(messages).flatMap(({ role, content }) =>
      role === "user" ? spokenTo(content) : objects(content).flatMap(ofAnthropic),
    ),
  say({ thinks, calls, pieces }) {
    const blocks = [
      ...(thinks ? [thinkingBlock] : []),
      ...calls.map(({ id, city }) => ({
        whole: { type: "tool_use", id, name: tool, input: { city } },
        start: { type: "tool_use", id, name: tool, input: {} },
        deltas: ["", argumentsOf({ city })].map((partial_json) => ({ type: "input_json_delta", partial_json })),
      })),
      ...(pieces.length > 0 ? [textBlock(pieces)] : []),
    ];
    const message = { id: "msg_01Thinking", type: "message", role: "assistant", model: "stub-model" };
    const stop = { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null };
    const usage = { input_tokens: 10, output_tokens: 20 };
    const events = [
      { type: "message_start", message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } },
      ...blocks.flatMap(({ start, deltas }, index) => [
        { type: "content_block_start", index, content_block: start },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ]),
      { type: "message_delta", delta: stop, usage },
      { type: "message_stop" },
    ];
    return { whole: { ...message, ...stop, content: blocks.map(({ whole }) => whole), usage }, events: events.map(event) };
  },
};

const thinkingBlock = {
  whole: { type: "thinking", thinking: thought, signature },
  start: { type: "thinking", thinking: "", signature: "" },
  deltas: [...thoughts.map((thinking): Json => ({ type: "thinking_delta", thinking })), { type: "signature_delta", signature }],
};

function textBlock(pieces: string[]) {
  return {
    whole: { type: "text", text: pieces.join("") },
    start: { type: "text", text: "" },
    deltas: pieces.map((text): Json => ({ type: "text_delta", text })),
  };
}

function spokenTo(content: unknown): Item[] {
  if (typeof content === "string") return [{ kind: "question" }];
  return objects(content).map(({ type, tool_use_id: id, content: result }): Item =>
    type === "tool_result" ? { kind: "result", id, text: textOf(result) } : { kind: "question" },
  );
}

function ofAnthropic({ type, thinking, signature: signed, id, input }: Json): Item[] {
  if (type === "thinking") return [{ kind: "thought", text: thinking, signature: signed }];
  return type === "tool_use" ? [{ kind: "call", id, city: object(input)["city"] }] : [];
}

/** Its calls have no ids, and only the first of them has the signature. */
const google: Voice = {
  signs: true,
  read: ({ contents }) => objects(contents).flatMap(({ role, parts }) => objects(parts).flatMap((part) => ofGoogle(role, part))),
  say({ thinks, calls, pieces }) {
    const parts = [
      ...(thinks ? thoughts : []).map((text): Json => ({ text, thought: true })),
      ...calls.map(({ city }, index) => ({
        functionCall: { name: tool, args: { city } },
        ...(index === 0 && { thoughtSignature: signature }),
      })),
      ...pieces.map((text) => ({ text })),
    ];
    const tail = { usageMetadata: googleUsage(10, 20), modelVersion: "stub-model", responseId: crypto.randomUUID() };
    const answer = (some: Json[], finish: string | null) => ({
      candidates: [{ content: { parts: some, role: "model" }, ...(finish !== null && { finishReason: finish }), index: 0 }],
      ...tail,
    });
    const events = parts.map((part, index) => data(answer([part], index === parts.length - 1 ? "STOP" : null)));
    return { whole: answer(parts, "STOP"), events };
  },
};

function ofGoogle(role: unknown, { text, functionCall, functionResponse, thoughtSignature }: Json): Item[] {
  const answered = object(functionResponse);
  if (functionResponse !== undefined) {
    return [{ kind: "result", id: answered["id"], text: String(object(answered["response"])["output"]) }];
  }
  if (role === "user") return [{ kind: "question" }];
  const called = object(functionCall);
  const signed: Item[] = thoughtSignature === undefined ? [] : [{ kind: "thought", text, signature: thoughtSignature }];
  return functionCall === undefined
    ? signed
    : [...signed, { kind: "call", id: called["id"], city: object(called["args"])["city"] }];
}

const openaiResponses: Voice = {
  signs: true,
  read: ({ input }) => objects(input).flatMap(ofResponses),
  say({ thinks, calls, pieces }) {
    const items: Json[] = [
      ...(thinks ? [{ id: "rs_1", type: "reasoning", summary: [summary(thought)], encrypted_content: signature }] : []),
      ...calls.map((call, index) => ({
        id: `fc_${index}`,
        type: "function_call",
        status: "completed",
        call_id: call.id,
        name: tool,
        arguments: argumentsOf(call),
      })),
      ...(pieces.length > 0
        ? [{ id: "msg_1", type: "message", role: "assistant", status: "completed", content: [said(pieces)] }]
        : []),
    ];
    const whole = {
      id: "resp_0Thinking",
      object: "response",
      status: "completed",
      error: null,
      output: items,
      usage: responsesUsage,
    };
    const begun = { ...whole, status: "in_progress", output: [], usage: null };
    const events = [
      { type: "response.created", response: begun },
      ...items.flatMap((item, output_index) => [
        { type: "response.output_item.added", output_index, item: { ...item, summary: [], content: [], arguments: "" } },
        ...piecesOf(item, pieces).map((piece) => ({ item_id: item["id"], output_index, ...piece })),
        { type: "response.output_item.done", output_index, item },
      ]),
      { type: "response.completed", response: whole },
    ];
    return { whole, events: events.map((one, sequence_number) => event({ ...one, sequence_number })) };
  },
};

const responsesUsage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 10 },
  total_tokens: 30,
};
const summary = (text: string): Json => ({ type: "summary_text", text });
const said = (pieces: string[]): Json => ({ type: "output_text", text: pieces.join(""), annotations: [], logprobs: [] });

function piecesOf({ type, arguments: written }: Json, pieces: string[]): Json[] {
  if (type === "reasoning") {
    return thoughts.map((delta) => ({ type: "response.reasoning_summary_text.delta", summary_index: 0, delta }));
  }
  if (type === "function_call") return [{ type: "response.function_call_arguments.delta", delta: written }];
  return pieces.map((delta) => ({ type: "response.output_text.delta", content_index: 0, delta, logprobs: [] }));
}

function ofResponses({ role, type, call_id: id, arguments: written, output, encrypted_content }: Json): Item[] {
  if (role === "user") return [{ kind: "question" }];
  if (type === "reasoning") return [{ kind: "thought", text: null, signature: encrypted_content }];
  if (type === "function_call") return [{ kind: "call", id, city: object(JSON.parse(String(written)))["city"] }];
  return type === "function_call_output" ? [{ kind: "result", id, text: textOf(output) }] : [];
}

const voices: Record<string, Voice> = { openai, anthropic, google, "openai-responses": openaiResponses };

/** The provider's answers, by the name of the format: those of the registry. */
export const thinking: Record<string, StubAnswer> = Object.fromEntries(
  Object.keys(wireFormats).flatMap((format) => {
    const voice = voices[format];
    return voice === undefined ? [] : [[format, (response, call) => play(format, voice, call)(response, call)]];
  }),
);

function play(format: string, voice: Voice, call: StubCall): StubAnswer {
  const items = voice.read(call.body);
  const complaint = complaintAbout(items, voice);
  if (complaint !== null) {
    // The gateway does not repeat a provider's words.
    console.log(`The model behind ${format} refuses: ${complaint}`);
    return json({ error: { code: 400, status: "INVALID_ARGUMENT", type: "invalid_request_error", message: complaint } }, 400);
  }
  const { whole, events } = voice.say(next(items, voice, "tools" in call.body));
  if (!call.streamed && !call.path.includes(":streamGenerateContent")) return json(whole);
  return written(events, items.filter(({ kind }) => kind === "question").length > 1);
}

/** Without its tool, as in the launch check, the model has nothing to think about. */
function next(items: Item[], { signs }: Voice, hasTool: boolean): Said {
  if (!hasTool) return { thinks: false, calls: [], pieces: ["Yes"] };
  if (items.at(-1)?.kind === "question") {
    return { thinks: true, calls: Object.keys(weather).map((city) => ({ id: `call_${crypto.randomUUID()}`, city })), pieces: [] };
  }
  const isKept = signs || lastTurn(items).some((item) => item.kind === "thought" && item.text === thought);
  return { thinks: false, calls: [], pieces: ["Oslo 7,", isKept ? " Rome 19" : " Rome 19, without a thought"] };
}

function complaintAbout(items: Item[], { signs }: Voice): string | null {
  const calls = items.filter((item) => item.kind === "call");
  const results = items.filter((item) => item.kind === "result");
  const answered = new Map(results.map(({ id, text }) => [id, text]));
  if (answered.size !== results.length || results.length !== calls.length) {
    return `${calls.length} calls have ${results.length} results, with ${answered.size} ids`;
  }
  const wrong = calls.find(({ id, city }) => answered.get(id) !== weather[String(city)]);
  if (wrong !== undefined) return `the call for ${String(wrong.city)} has another result or none: ${JSON.stringify(items)}`;
  const turn = lastTurn(items);
  const [first] = turn;
  if (!signs || turn.length === 0) return null;
  return first?.kind === "thought" && first.signature === signature ? null : `a signature is lost: ${JSON.stringify(turn)}`;
}

/** What came after the last question. */
function lastTurn(items: Item[]): Item[] {
  return items.slice(items.findLastIndex(({ kind }) => kind === "question") + 1);
}

/** @param isQuiet nothing is sent for a while before the last piece of the text */
function written(events: string[], isQuiet: boolean): StubAnswer {
  return async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    let isToWait = isQuiet;
    for (const one of events) {
      if (isToWait && one.includes(" Rome 19")) {
        await new Promise((resolve) => setTimeout(resolve, quietMs));
        isToWait = false;
      }
      response.write(one);
    }
    response.end();
  };
}

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function argumentsOf({ city }: { city: string }): string {
  return JSON.stringify({ city });
}

function textOf(content: unknown): string {
  return typeof content === "string"
    ? content
    : objects(content)
        .map(({ text }) => String(text))
        .join("");
}

function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}

function object(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

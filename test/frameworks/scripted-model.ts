/**
 * A scripted model behind any wire format. Asked for the weather, it calls its tool for two cities at once. Asked for a report, it
 * first returns one that does not fit the schema, and a valid one when it gets the complaint.
 */
import { message } from "../support/providers/anthropic-answers.ts";
import { googleChat } from "../support/providers/google-answers.ts";
import type { StubCall } from "../support/providers/provider-stub.ts";
import { refusal, response } from "../support/providers/responses-answers.ts";
import { chat, chunk, completion, json, stream, usageOf, type StubAnswer } from "../support/providers/stub-answers.ts";

/** The request to a provider, independent of the format. */
interface Asked {
  tools: string[];
  wantsJson: boolean;
  /** The results of tools so far. */
  results: number;
  /** The whole request as text. */
  text: string;
}

interface Said {
  text: string;
  calls: { name: string; input: object }[];
}

type Json = Record<string, unknown>;

export const weatherTool = "get_weather";
export const report = { summary: "Oslo 7, Rome 19", degrees: 26 };
const cities = ["Oslo", "Rome"];
/** Encrypted, in base64 of URLs with padding. */
const reasoning = `${Buffer.from("?>".repeat(500)).toString("base64url")}==`;
/** A value of the wrong report, which every complaint repeats. */
const mistake = "tepid";

function play({ tools, wantsJson, results, text }: Asked): Said {
  if (tools.includes(weatherTool) && results < cities.length) {
    return { text: "", calls: cities.slice(results).map((city) => ({ name: weatherTool, input: { city } })) };
  }
  const content = text.includes(mistake) ? report : { ...report, degrees: mistake };
  const reporting = tools.find((name) => name !== weatherTool);
  if (reporting !== undefined) return { text: "", calls: [{ name: reporting, input: content }] };
  return { text: wantsJson ? JSON.stringify(content) : report.summary, calls: [] };
}

/** The provider's answers, by the name of the format. */
export const scripted: Record<string, StubAnswer> = {
  openai: (response, call) => asOpenai(play(ofOpenai(call)))(response, call),
  "openai-responses": (response, call) => asResponses(call)(response, call),
  anthropic: (response, call) => asAnthropic(play(ofAnthropic(call)))(response, call),
  google: (response, call) => asGoogle(play(ofGoogle(call)))(response, call),
};

function ofOpenai({ body, rawBody }: StubCall): Asked {
  const tools = objects(body["tools"]).map((tool) => String(object(tool["function"])["name"]));
  const results = objects(body["messages"]).filter(({ role }) => role === "tool").length;
  return { tools, wantsJson: "response_format" in body, results, text: rawBody };
}

function ofResponses({ body, rawBody }: StubCall): Asked {
  return {
    tools: objects(body["tools"]).map(({ name }) => String(name)),
    wantsJson: "format" in object(body["text"]),
    results: objects(body["input"]).filter(({ type }) => type === "function_call_output").length,
    text: rawBody,
  };
}

function ofAnthropic({ body, rawBody }: StubCall): Asked {
  const blocks = objects(body["messages"]).flatMap(({ content }) => objects(content));
  return {
    tools: objects(body["tools"]).map(({ name }) => String(name)),
    wantsJson: "format" in object(body["output_config"]),
    results: blocks.filter(({ type }) => type === "tool_result").length,
    text: rawBody,
  };
}

function ofGoogle({ body, rawBody }: StubCall): Asked {
  const declared = objects(body["tools"]).flatMap(({ functionDeclarations }) => objects(functionDeclarations));
  const parts = objects(body["contents"]).flatMap((content) => objects(content["parts"]));
  return {
    tools: declared.map(({ name }) => String(name)),
    wantsJson: "responseMimeType" in object(body["generationConfig"]),
    results: parts.filter((part) => "functionResponse" in part).length,
    text: rawBody,
  };
}

/** In a stream both calls have index 0, as several providers of this format send them. */
function asOpenai({ text, calls }: Said): StubAnswer {
  if (calls.length === 0) return chat(text);
  const made = calls.map(({ name, input }) => ({
    id: `call_${crypto.randomUUID()}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const usage = usageOf(10, 20);
  const whole = json({ ...completion({ role: "assistant", content: null, tool_calls: made }, "tool_calls"), usage });
  const pieces = made.flatMap(({ id, type, function: { name, arguments: written } }) => [
    chunk({ tool_calls: [{ index: 0, id, type, function: { name, arguments: "" } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: written.slice(0, 5) } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: written.slice(5) } }] }),
  ]);
  const streamed = stream([...pieces, { ...chunk({}, "tool_calls"), usage }]);
  return (response, call) => (call.streamed ? streamed : whole)(response, call);
}

/** It wants its reasoning back before the calls that it led to. */
function asResponses(call: StubCall): StubAnswer {
  const asked = ofResponses(call);
  const { text, calls } = play(asked);
  const items = objects(call.body["input"]);
  const first = items.findIndex(({ type }) => type === "function_call");
  if (asked.results > 0 && items[first - 1]?.["encrypted_content"] !== reasoning) {
    return refusal(400, { type: "invalid_request_error", param: "input" });
  }
  const made = calls.map(({ name, input }) => ({
    call_id: `call_${crypto.randomUUID()}`,
    name,
    arguments: JSON.stringify(input),
  }));
  return response(text, { calls: made, ...(calls.length > 0 && { encrypted: reasoning }) });
}

function asAnthropic({ text, calls }: Said): StubAnswer {
  return message(text, { calls: calls.map((call) => ({ id: `toolu_${crypto.randomUUID()}`, ...call })) });
}

/** Only the first of several calls has a signature, and none has an id. */
function asGoogle({ text, calls }: Said): StubAnswer {
  if (calls.length === 0) return googleChat(text);
  const parts = calls.map(({ name, input }) => ({ functionCall: { name, args: input } }));
  const signed = parts.map((part, index) => (index === 0 ? { ...part, thoughtSignature: "c2lnbmVk" } : part));
  return googleChat(signed, { responseId: crypto.randomUUID().slice(0, 8) });
}

function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}

function object(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

/** A model of each wire format that thinks before it calls a tool, and the two APIs in which an agent gives its thoughts back. */
import { blockMessage } from "../../support/providers/anthropic-answers.ts";
import { googleChat, googleUsage } from "../../support/providers/google-answers.ts";
import { response } from "../../support/providers/responses-answers.ts";
import { chunk, completion, json, stream, usageOf, type StubAnswer } from "../../support/providers/stub-answers.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import type { FormatProvider } from "../formats-stage.ts";
import { namedEvents, send } from "./session.ts";

export type Json = Record<string, unknown>;

export interface Thinker {
  provider: FormatProvider;
  model: string;
  /** Thinks, says something and calls a tool. Each answer has an id of its own. */
  answer(id: string): StubAnswer;
  /** What of the thought a call to the provider has. */
  thought: string;
}

const name = "weather";
const signature = "c2lnbmVk+/by==";
const encrypted = `${Buffer.from("\u0000encrypted?>".repeat(40)).toString("base64url")}==`;
const reasoning = "I need the weather.";

/** Chat completions with a field for reasoning. */
function reasoned(id: string): StubAnswer {
  const call = { id, type: "function", function: { name, arguments: "{}" } };
  const said = { role: "assistant", content: "Looking.", reasoning_content: reasoning };
  const whole = json({ ...completion({ ...said, tool_calls: [call] }, "tool_calls"), usage: usageOf(10, 5) });
  const { content, ...thought } = said;
  const last = { ...chunk({}, "tool_calls"), usage: usageOf(10, 5) };
  const streamed = stream([chunk(thought), chunk({ content }), chunk({ tool_calls: [{ index: 0, ...call }] }), last]);
  return (answer, call) => (call.streamed ? streamed : whole)(answer, call);
}

export const thinkers: Thinker[] = [
  {
    provider: "claude",
    model: "thoughts/adaptive",
    answer: (id) =>
      blockMessage([
        { type: "thinking", thinking: reasoning, signature },
        { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
        { type: "text", text: "Looking." },
        { type: "tool_use", id, name, input: {} },
      ]),
    thought: signature,
  },
  {
    provider: "responses",
    model: "thoughts/responses",
    answer: (id) => response("Looking.", { calls: [{ call_id: id, name, arguments: "{}" }], encrypted, summary: [reasoning] }),
    thought: encrypted,
  },
  {
    provider: "google",
    model: "thoughts/google",
    answer: () =>
      googleChat([{ text: "Looking." }, { functionCall: { name, args: {} }, thoughtSignature: "c2lnbmVk" }], {
        usage: googleUsage(10, 5),
      }),
    thought: '"thoughtSignature":"c2lnbmVk"',
  },
  { provider: "other", model: "thoughts/other", answer: reasoned, thought: `"reasoning_content":"${reasoning}"` },
];

export interface AgentApi {
  name: "messages" | "responses";
  first(model: string): Json;
  /** @throws Error for another status than 200 */
  ask(fleet: Fleet, key: string, body: Json): Promise<Json[]>;
  /** The request with the answer, as it came, and the results of its calls. */
  next(body: Json, answer: readonly Json[]): Json;
}

const input_schema = { type: "object", properties: {} };

async function okText(response: Response): Promise<string> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return text;
}

export const agentApis: AgentApi[] = [
  {
    name: "messages",
    first: (model) => ({
      model,
      max_tokens: 2_000,
      thinking: { type: "adaptive" },
      output_config: { effort: "low" },
      messages: [{ role: "user", content: "How is Oslo?" }],
      tools: [{ name, input_schema }],
    }),
    async ask(fleet, key, body) {
      const text = await okText(await send(fleet, key, body));
      return body["stream"] === true ? streamedBlocks(namedEvents(text)) : ((JSON.parse(text) as Json)["content"] as Json[]);
    },
    next(body, answer) {
      const results = answer
        .filter(({ type }) => type === "tool_use")
        .map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "rain" }));
      const messages = [
        ...(body["messages"] as Json[]),
        { role: "assistant", content: answer },
        { role: "user", content: results },
      ];
      return { ...body, messages };
    },
  },
  {
    name: "responses",
    first: (model) => ({
      model,
      input: [{ role: "user", content: "How is Oslo?" }],
      reasoning: { effort: "low" },
      tools: [{ type: "function", name, parameters: input_schema, strict: false }],
    }),
    async ask(fleet, key, body) {
      const response = await fetch(`${fleet.url()}/gpt/v1/responses`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      });
      const text = await okText(response);
      if (body["stream"] !== true) return (JSON.parse(text) as Json)["output"] as Json[];
      const last = text.trim().split("\n").at(-1)?.slice("data: ".length) ?? "{}";
      return ((JSON.parse(last) as Json)["response"] as Json)["output"] as Json[];
    },
    next(body, answer) {
      const results = answer
        .filter(({ type }) => type === "function_call")
        .map(({ call_id }) => ({ type: "function_call_output", call_id, output: "rain" }));
      return { ...body, input: [...(body["input"] as Json[]), ...answer, ...results] };
    },
  },
];

/** The content that a client of Messages has at the end of a stream. */
export function streamedBlocks(events: readonly Json[]): Json[] {
  const blocks: Json[] = [];
  for (const { type, index, content_block: block, delta } of events as {
    type: string;
    index: number;
    content_block: Json;
    delta: Json;
  }[]) {
    if (type === "content_block_start") blocks.push({ ...block, partial: "" });
    const target = blocks[index];
    if (type !== "content_block_delta" || target === undefined) continue;
    if ("text" in delta) target["text"] = `${String(target["text"])}${String(delta["text"])}`;
    if ("thinking" in delta) target["thinking"] = `${String(target["thinking"])}${String(delta["thinking"])}`;
    if ("signature" in delta) target["signature"] = delta["signature"];
    if ("partial_json" in delta) target["partial"] = `${String(target["partial"])}${String(delta["partial_json"])}`;
  }
  return blocks.map(({ partial, ...block }) =>
    partial === "" ? block : { ...block, input: JSON.parse(String(partial)) as unknown },
  );
}

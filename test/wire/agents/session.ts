/** Requests as a coding agent makes them with Messages: its headers, its long beginning, its tools, and turn after turn of a session. */
import type { Fleet } from "../../support/servers/fleet.ts";

type Json = Record<string, unknown>;

export interface Turn {
  /** What the model answered, and what follows it. */
  answer: Json[];
  next: Json[];
}

const ephemeral = { type: "ephemeral" };
const words = (text: string, times: number): string =>
  Array.from({ length: times }, (_, index) => `${text} ${index}.`).join("\n");
const tool = (name: string, more: Json = {}): Json => ({
  name,
  description: words(`What ${name} does`, 20),
  input_schema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { command: { type: "string", description: "The command" }, timeout: { type: "number" } },
    required: ["command"],
    additionalProperties: false,
  },
  ...more,
});

/** The last message has the breakpoint, as agents move it, and a late instruction loses its own in the next request. */
export function agentRequest(model: string, turns: readonly Turn[] = [], fields: Json = {}): Json {
  const isFirst = turns.length === 0;
  const instruction = words("An instruction about skills", 60);
  const late = isFirst ? [{ type: "text", text: instruction, cache_control: ephemeral }] : instruction;
  const messages: Json[] = [
    {
      role: "user",
      content: [
        { type: "text", text: "<system-reminder>a</system-reminder>" },
        { type: "text", text: "Fix the test" },
      ],
    },
    { role: "system", content: late, ...(isFirst && { output_config: { effort: "medium" } }) },
    ...turns.flatMap(({ answer, next }) => [
      { role: "assistant", content: answer },
      { role: "user", content: next },
    ]),
  ];
  return {
    model,
    messages: withBreakpoint(messages, isFirst),
    system: [
      { type: "text", text: `x-anthropic-billing-header: cc_version=2.1.332; cch=${turns.length};` },
      { type: "text", text: "You are an agent.", cache_control: ephemeral },
      { type: "text", text: words("A rule", 100), cache_control: ephemeral },
    ],
    tools: [
      tool("Bash"),
      tool("Read"),
      tool("ToolSearch"),
      tool("WebFetch", { defer_loading: true }),
      { ...tool("DeferredToolPlaceholder"), input_schema: { type: "object", properties: {} }, defer_loading: true },
    ],
    metadata: { user_id: "someone" },
    max_tokens: 32_000,
    thinking: { type: "adaptive", display: "omitted" },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    output_config: { effort: "high" },
    stream: true,
    ...fields,
  };
}

function withBreakpoint(messages: Json[], isFirst: boolean): Json[] {
  const last = messages.at(-1);
  if (isFirst || last === undefined) return messages;
  const content = last["content"] as Json[];
  const marked = content.map((block, index) => (index === content.length - 1 ? { ...block, cache_control: ephemeral } : block));
  return [...messages.slice(0, -1), { ...last, content: marked }];
}

/** What an agent sends besides the key, whose header the caller chooses. */
export const agentHeaders = {
  "content-type": "application/json",
  "anthropic-version": "2023-06-01",
  "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14,a-beta-of-tomorrow",
  "anthropic-dangerous-direct-browser-access": "true",
  "x-app": "cli",
  "user-agent": "claude-cli/2.1.332 (external, sdk-cli)",
};

/** POST /messages with its key as a bearer, unless other headers are given. */
export function send(fleet: Fleet, key: string, body: Json, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${fleet.url()}/gpt/v1/messages?beta=true`, {
    method: "POST",
    headers: { ...agentHeaders, ...("x-api-key" in headers ? {} : { authorization: `Bearer ${key}` }), ...headers },
    body: JSON.stringify(body),
  });
}

/** The events of a stream, each by its name, which must be its type. */
export function namedEvents(body: string): Json[] {
  return body
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const [, name, data = ""] = /^event: (\w+)\ndata: (.+)$/.exec(event) ?? [];
      const parsed = JSON.parse(data) as Json;
      if (parsed["type"] !== name) throw new Error(`The event ${name} has the type ${String(parsed["type"])}`);
      return parsed;
    });
}

/**
 * Makes the request of a coding agent in the form of three APIs: instructions, twenty tools, and a conversation in which the model called
 * tools and read what they gave back. The three have the same content, so that only the API differs.
 */
import { Buffer } from "node:buffer";
import type { BodyPlan } from "./body.ts";

export const agentApis = ["chat", "messages", "responses"] as const;
export type AgentApi = (typeof agentApis)[number];

/** The instructions count as one: they are a message of chat completions. */
export const agentMessages = 60;
export const agentTools = 20;
const calls = (agentMessages - 2) / 2;

const instructions = [
  "You are an agent that changes code. Read before you write, and run the tests after each change.\n",
  "- Prefer small edits; say what you did in one sentence.\n- Never guess a path: list the folder first.\n",
].join("");
const instructionsRepeated = 40;
const task = "The weir loses water at night. Find out where, mend it, and show that it holds.";

/** What tools give back, with characters that slow JSON down: line ends, quotes, tabs and non-ASCII characters. */
const found = [
  'src/weir.ts:12:\tconst litres = rate * seconds; // no “about”, no "roughly"\n',
  "src/gate.ts:48:\treturn height > limit ? 'open' : 'shut'; – naïve, see issue\n",
].join("");
const foundBytes = Buffer.byteLength(JSON.stringify(found)) - 2;

interface Tool {
  name: string;
  description: string;
  schema: Record<string, unknown>;
}

interface Call {
  id: string;
  name: string;
  input: Record<string, unknown>;
  result: string;
}

type Plan = Pick<BodyPlan, "model" | "bodyBytes" | "maxTokens">;

/** @returns a body of exactly `bodyBytes`, unless that is below the smallest one */
export function agentBody(api: AgentApi, { model, bodyBytes, maxTokens }: Plan): Buffer {
  const whole = (called: readonly Call[]): Buffer => Buffer.from(JSON.stringify(forms[api]({ model, maxTokens, called })));
  const empty = Array.from({ length: calls }, (_, n) => callOf(n));
  return whole(filled(empty, bodyBytes - whole(empty).length));
}

interface Parts {
  model: string;
  maxTokens: number;
  called: readonly Call[];
}

const forms: Record<AgentApi, (parts: Parts) => Record<string, unknown>> = {
  chat: ({ model, maxTokens, called }) => ({
    model,
    messages: [
      { role: "system", content: instructions.repeat(instructionsRepeated) },
      { role: "user", content: task },
      ...called.flatMap(({ id, name, input, result }) => [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(input) } }],
        },
        { role: "tool", tool_call_id: id, content: result },
      ]),
    ],
    tools: tools.map(({ name, description, schema }) => ({
      type: "function",
      function: { name, description, parameters: schema },
    })),
    max_tokens: maxTokens,
    stream: true,
    stream_options: { include_usage: true },
  }),
  messages: ({ model, maxTokens, called }) => ({
    model,
    max_tokens: maxTokens,
    system: [{ type: "text", text: instructions.repeat(instructionsRepeated) }],
    messages: [
      { role: "user", content: [{ type: "text", text: task }] },
      ...called.flatMap(({ id, name, input, result }) => [
        { role: "assistant", content: [{ type: "tool_use", id, name, input }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: result }] },
      ]),
    ],
    tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
    stream: true,
  }),
  responses: ({ model, maxTokens, called }) => ({
    model,
    instructions: instructions.repeat(instructionsRepeated),
    input: [
      { type: "message", role: "user", content: [{ type: "input_text", text: task }] },
      ...called.flatMap(({ id, name, input, result }) => [
        { type: "function_call", call_id: id, name, arguments: JSON.stringify(input) },
        { type: "function_call_output", call_id: id, output: result },
      ]),
    ],
    tools: tools.map(({ name, description, schema }) => ({
      type: "function",
      name,
      description,
      parameters: schema,
      strict: false,
    })),
    max_output_tokens: maxTokens,
    store: false,
    stream: true,
  }),
};

const tools: Tool[] = Array.from({ length: agentTools }, (_, n) => ({
  name: `tool_${n + 1}`,
  description: `Does step ${n + 1} of the work. ${"Give absolute paths; the output is cut after 30,000 characters. ".repeat(7)}`,
  schema: {
    type: "object",
    properties: {
      path: { type: "string", description: "The absolute path of the file or folder that the step is about" },
      command: { type: "string", description: "The command to run there, with its arguments, as in a shell" },
      mode: { type: "string", enum: ["read", "write", "list", "run"], description: "What to do with it" },
      limit: { type: "integer", minimum: 1, maximum: 2_000, description: "The most lines of output to give back" },
      description: { type: "string", description: "What this step does, in five to ten words, for the person who reads along" },
    },
    required: ["path", "mode"],
    additionalProperties: false,
  },
}));

function callOf(n: number): Call {
  const input = {
    path: `/home/agent/weir/src/part-${n}.ts`,
    command: `grep -rn "rate" src | head -n ${n + 1}`,
    mode: "run",
    limit: 200,
    description: "Search where the rate is read",
  };
  return { id: `call_${String(n).padStart(24, "0")}`, name: `tool_${(n % agentTools) + 1}`, input, result: "" };
}

/** Distributes the missing bytes evenly over the results. The last one has single-byte characters and takes the rest. */
function filled(empty: readonly Call[], missing: number): Call[] {
  const times = Math.max(0, Math.floor(missing / empty.length / foundBytes));
  const rest = missing - times * foundBytes * (empty.length - 1);
  return empty.map((call, n) => ({
    ...call,
    result: n === empty.length - 1 ? "x".repeat(Math.max(1, rest)) : found.repeat(times),
  }));
}

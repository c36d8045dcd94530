/**
 * What Anthropic's Messages API refuses with 400, in its own words, for each of its models
 * (https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting and the models' migration guides, read on 28 November 2026).
 */
import type { StubAnswer } from "./stub-answers.ts";
import { refusal } from "./anthropic-answers.ts";

type Json = Record<string, unknown>;

interface ClaudeRules {
  /** The values of `thinking.type` that it takes. */
  thinking: readonly string[];
  efforts: readonly string[];
  /** It takes `temperature` and `top_p` other than the default. */
  samples: boolean;
  forcedTools: boolean;
  /** It goes on with a last turn of its own. */
  prefill: boolean;
}

const upToHigh = ["low", "medium", "high"];
const all = [...upToHigh, "xhigh", "max"];
const budget: ClaudeRules = { thinking: ["enabled", "disabled"], efforts: [], samples: true, forcedTools: true, prefill: true };
const first: ClaudeRules = {
  thinking: ["adaptive", "enabled", "disabled"],
  efforts: [...upToHigh, "max"],
  samples: true,
  forcedTools: true,
  prefill: false,
};
const adaptive: ClaudeRules = {
  thinking: ["adaptive", "disabled"],
  efforts: all,
  samples: false,
  forcedTools: true,
  prefill: false,
};
const always: ClaudeRules = { ...adaptive, thinking: ["adaptive"] };

export const claudeRules: Readonly<Record<string, ClaudeRules>> = {
  "claude-fable-5-1": { ...always, forcedTools: false },
  "claude-fable-5": always,
  "claude-opus-5-5": { ...always, forcedTools: false },
  "claude-opus-5": adaptive,
  "claude-opus-4-8": adaptive,
  "claude-opus-4-7": adaptive,
  "claude-opus-4-6": first,
  "claude-sonnet-5-5": { ...adaptive, thinking: ["adaptive", "between_tools"], forcedTools: false },
  "claude-sonnet-5": adaptive,
  "claude-sonnet-4-6": first,
  "claude-haiku-5-5": adaptive,
  // It takes an effort as well; its other names' rules are enough.
  "claude-opus-4-5": budget,
  "claude-opus-4-5-20251101": budget,
  "claude-haiku-4-5": budget,
  "claude-haiku-4-5-20251001": budget,
};

/** Answers like the model if it takes the request, else with its refusal. */
export function strictClaude(answer: StubAnswer, model?: string): StubAnswer {
  return (response, call) => {
    const words = claudeRefusal(call.body, model);
    return (words === null ? answer : refusal(400, "invalid_request_error", words))(response, call);
  };
}

/**
 * Answers as said unless a thought came back without its text, in the words of https://github.com/eclipse-theia/theia/issues/18044. A thought
 * that had no text at first is taken so, which is for the test to know.
 */
export function unlessEmptied(answer: StubAnswer): StubAnswer {
  return (response, call) => {
    const turns = call.body["messages"] as { content: Json[] }[];
    const isEmptied = turns.some(({ content }) => content.some(({ type, thinking }) => type === "thinking" && !thinking));
    const words = "messages.1.content.0.thinking: each thinking block must contain thinking";
    return (isEmptied ? refusal(400, "invalid_request_error", words) : answer)(response, call);
  };
}

/**
 * @param model whose rules hold; default: the one in the body
 * @returns why the API refuses the body of a call; null: it takes it
 */
export function claudeRefusal(body: Json, model = String(body["model"])): string | null {
  const rules = claudeRules[model];
  if (rules === undefined) return `model: ${model}`;
  return (
    thinkingRefusal(body, rules) ??
    samplingRefusal(body, rules) ??
    toolsRefusal(body, rules) ??
    schemaRefusal(body) ??
    turnsRefusal(body, rules)
  );
}

function thinkingRefusal(body: Json, rules: ClaudeRules): string | null {
  const { thinking, output_config, max_tokens } = body as { thinking?: Json; output_config?: Json; max_tokens: number };
  const type = thinking?.["type"];
  if (type !== undefined && !rules.thinking.includes(String(type)))
    return `"thinking.type.${String(type)}" is not supported for this model.`;
  const budgetTokens = Number(thinking?.["budget_tokens"]);
  if (type === "enabled" && !(budgetTokens >= 1_024))
    return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
  if (type === "enabled" && budgetTokens >= max_tokens) return "`max_tokens` must be greater than `thinking.budget_tokens`";
  if (thinking?.["display"] !== undefined && (type === "disabled" || type === "between_tools"))
    return "thinking: Extra inputs are not permitted";
  const effort = output_config?.["effort"];
  if (effort === undefined) return null;
  if (!rules.efforts.includes(String(effort))) return "This model does not support the effort parameter.";
  const isHigh = effort === "xhigh" || effort === "max";
  return isHigh && (type === "disabled" || type === "between_tools") ? "effort is not supported when thinking is disabled" : null;
}

function samplingRefusal({ temperature, top_p, thinking }: Json, { samples }: ClaudeRules): string | null {
  if (!samples && (temperature !== undefined || top_p !== undefined)) return "`temperature` is deprecated for this model.";
  if (temperature !== undefined && top_p !== undefined)
    return "`temperature` and `top_p` cannot both be specified for this model.";
  if (!isThinking(thinking)) return null;
  if (temperature !== undefined && temperature !== 1) return "`temperature` may only be set to 1 when thinking is enabled.";
  return typeof top_p === "number" && top_p < 0.95
    ? "`top_p` must be greater than or equal to 0.95 when thinking is enabled"
    : null;
}

function toolsRefusal({ tool_choice, tools, thinking }: Json, { forcedTools }: ClaudeRules): string | null {
  const type = (tool_choice as Json | undefined)?.["type"];
  const isForced = type === "any" || type === "tool";
  if (isForced && !forcedTools) return 'tool_choice: type "tool" and "any" are not supported for this model.';
  if (isForced && isThinking(thinking)) return "Thinking may not be enabled when tool_choice forces tool use.";
  for (const [index, tool] of ((tools ?? []) as Json[]).entries()) {
    const schema = tool["input_schema"] as Json;
    const at = `tools.${index}.custom.input_schema`;
    if (schema["type"] !== "object") return `${at}.type: Input should be 'object'`;
    if (["oneOf", "allOf", "anyOf"].some((keyword) => keyword in schema)) {
      return `${at}: input_schema does not support oneOf, allOf, or anyOf at the top level`;
    }
    if (tool["strict"] === true) {
      const words = partRefusal(schema, schema, `tools.${index}.custom`);
      if (words !== null) return words;
    }
  }
  return null;
}

function isThinking(thinking: unknown): boolean {
  return ["enabled", "adaptive"].includes(String((thinking as Json | undefined)?.["type"]));
}

function schemaRefusal({ output_config }: Json): string | null {
  const schema = ((output_config as Json | undefined)?.["format"] as Json | undefined)?.["schema"] as Json | undefined;
  return schema === undefined ? null : partRefusal(schema, schema, "output_config.format.schema");
}

const known = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "enum",
  "const",
  "anyOf",
  "allOf",
  "$ref",
  "$defs",
  "definitions",
  "description",
  "title",
  "format",
  "minItems",
]);

function partRefusal(part: unknown, root: Json, at: string, through: readonly string[] = []): string | null {
  if (typeof part !== "object" || part === null || Array.isArray(part)) return `${at}: Input should be a valid dictionary`;
  const schema = part as Json;
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    const name = /^#\/\$defs\/([\w-]+)$/.exec(reference)?.[1];
    const target = name === undefined ? undefined : (root["$defs"] as Json | undefined)?.[name];
    if (target === undefined) return `${at}: $ref ${reference} does not exist`;
    return through.includes(reference)
      ? "Too many recursive definitions in schema"
      : partRefusal(target, root, at, [...through, reference]);
  }
  const types = [schema["type"] ?? []].flat();
  if (types.includes("object") && schema["additionalProperties"] !== false) {
    return `${at}: For 'object' type, 'additionalProperties' must be explicitly set to false`;
  }
  for (const keyword of Object.keys(schema)) {
    if (!known.has(keyword)) return `${at}: For '${String(schema["type"])}' type, property '${keyword}' is not supported`;
  }
  if (types.length === 0 && schema["anyOf"] === undefined && schema["enum"] === undefined) return `${at}: Schema type is missing`;
  if (Number(schema["minItems"] ?? 0) > 1)
    return `${at}: For 'array' type, 'minItems' values other than 0 or 1 are not supported`;
  const values = (schema["enum"] ?? []) as unknown[];
  if (values.some((value) => typeof value === "object" && value !== null)) return `${at}: Enum values must be of a simple type`;
  const parts = [...Object.values((schema["properties"] ?? {}) as Json), ...((schema["anyOf"] ?? []) as unknown[])];
  if (schema["items"] !== undefined) parts.push(schema["items"]);
  for (const one of parts) {
    const words = partRefusal(one, root, at, through);
    if (words !== null) return words;
  }
  return null;
}

function turnsRefusal({ messages, thinking }: Json, { prefill }: ClaudeRules): string | null {
  const turns = messages as { role: string; content: Json[] }[];
  if (turns.length === 0) return "messages: at least one message is required";
  if (turns[0]?.role !== "user") return 'messages: first message must use the "user" role';
  if (!prefill && turns.at(-1)?.role === "assistant") {
    return "This model does not support assistant message prefill. The conversation must end with a user message.";
  }
  const ids = new Set<unknown>();
  let called: unknown[] = [];
  for (const [index, { role, content }] of turns.entries()) {
    const at = `messages.${index}`;
    const words = role === "user" ? resultsRefusal(content, called, at) : callsRefusal(content, ids, at);
    if (words !== null) return words;
    if (content.some(({ type, text }) => type === "text" && !/\S/.test(String(text))))
      return "messages: text content blocks must contain non-whitespace text";
    called = role === "user" ? [] : content.flatMap(({ id }) => id ?? []);
  }
  return (thinking as Json | undefined)?.["type"] === "enabled" ? beginningRefusal(turns) : null;
}

function callsRefusal(content: Json[], ids: Set<unknown>, at: string): string | null {
  for (const { type, id, signature } of content) {
    if (type === "thinking" && !signature) return `${at}: Invalid \`signature\` in \`thinking\` block`;
    if (type !== "tool_use") continue;
    if (ids.has(id)) return `${at}: \`tool_use\` ids must be unique`;
    if (!/^[a-zA-Z0-9_-]+$/.test(String(id))) return `${at}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
    ids.add(id);
  }
  return null;
}

function resultsRefusal(content: Json[], called: unknown[], at: string): string | null {
  const answered: unknown[] = content.flatMap(({ tool_use_id }) => tool_use_id ?? []);
  const lost = called.find((id) => !answered.includes(id));
  if (lost !== undefined) return `${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`;
  const unknown = answered.find((id) => !called.includes(id));
  return unknown === undefined ? null : `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks`;
}

/** A model that takes a budget thinks on only in a turn that it began with a thought. */
function beginningRefusal(turns: { role: string; content: Json[] }[]): string | null {
  const said = turns.findLastIndex(({ role, content }) => role === "user" && !content.some(({ type }) => type === "tool_result"));
  const block = turns[said + 1]?.content[0]?.["type"];
  const isThought = block === undefined || block === "thinking" || block === "redacted_thinking";
  return isThought
    ? null
    : `messages.${said + 1}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(block)}\``;
}

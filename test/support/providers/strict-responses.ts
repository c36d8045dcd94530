/**
 * What OpenAI's Responses API refuses with 400, in its own words. No vendor was called: the fields are those of the official schema
 * (https://github.com/openai/openai-openapi) for which Weir has a use, and each other rule names the report that tells it.
 */
import type { StubCall } from "./provider-stub.ts";

type Json = Record<string, unknown>;

export interface ResponsesRefusal {
  message: string;
  type: "invalid_request_error";
  param: string;
  code: string | null;
}

type Reasoning = ReadonlyMap<string, string>;

interface GptRules {
  efforts: readonly string[];
  /** Without an effort in the request. */
  defaultEffort: string;
}

/** By the model's name; of others every effort is taken. None takes `temperature` or `top_p` while it reasons. */
export const gptRules: Readonly<Record<string, GptRules>> = {
  // https://github.com/anomalyco/models.dev/pull/2472, https://github.com/johny-b/llmcomp/issues/69
  "gpt-5.4": { efforts: ["none", "low", "medium", "high", "xhigh"], defaultEffort: "none" },
  // https://github.com/UKGovernmentBEIS/inspect_ai/pull/5254, https://github.com/BerriAI/litellm/pull/39631
  "gpt-6-astra": { efforts: ["low", "medium", "high", "xhigh", "max"], defaultEffort: "medium" },
};

const parameters = new Set([
  "model",
  "input",
  "store",
  "include",
  "max_output_tokens",
  "temperature",
  "top_p",
  "top_logprobs",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "reasoning",
  "text",
  "stream",
  "stream_options",
]);

const roles = ["assistant", "system", "developer", "user"];
const includable = ["reasoning.encrypted_content", "message.output_text.logprobs"];

/** By the type of an item: its fields. The status of reasoning is refused (https://github.com/1jehuang/jcode/issues/1028). */
const itemFields: Readonly<Record<string, readonly string[]>> = {
  message: ["id", "role", "content", "status"],
  function_call: ["id", "call_id", "name", "arguments", "status"],
  function_call_output: ["id", "call_id", "output", "status"],
  custom_tool_call: ["id", "call_id", "name", "input", "status"],
  custom_tool_call_output: ["id", "call_id", "output", "status"],
  reasoning: ["id", "summary", "content", "encrypted_content"],
};

/** How an id begins: https://github.com/openai/codex/issues/33176, https://github.com/continuedev/continue/pull/11785. */
const idPrefixes: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  custom_tool_call: "ctc",
  reasoning: "rs",
};

/** https://github.com/decolua/9router/issues/393; its characters are free: https://github.com/orchidfiles/ungate/pull/41. */
const callIdCharactersMax = 64;
/** https://github.com/mcp-use/mcp-use/issues/90, https://github.com/anomalyco/opencode/issues/43714 */
const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * @param own by the `encrypted_content` that the called model has made: the id of the call that it led to; absent: any leads to any
 * @returns why the API refuses the call; null: it takes it
 */
export function responsesRefusal(call: Pick<StubCall, "path" | "body">, own?: Reasoning): ResponsesRefusal | null {
  const { path, body } = call;
  if (!path.endsWith("/responses")) return refused("path", `Invalid URL (POST ${path})`);
  return (
    parameterRefusal(body) ??
    effortRefusal(body) ??
    toolsRefusal(body) ??
    formatRefusal(body) ??
    itemsRefusal(list(body["input"]), own) ??
    callsRefusal(list(body["input"]))
  );
}

function refused(param: string, message: string, code: string | null = null): ResponsesRefusal {
  return { message, type: "invalid_request_error", param, code };
}

function unsupported(param: string, value: unknown, values: readonly string[], code = "invalid_value"): ResponsesRefusal {
  const known = values.map((one) => `'${one}'`).join(", ");
  return refused(param, `Invalid value: '${String(value)}'. Supported values are: ${known}.`, code);
}

function missing(param: string): ResponsesRefusal {
  return refused(param, `Missing required parameter: '${param}'.`, "missing_required_parameter");
}

function unknownField(at: string, value: Json, known: readonly string[]): ResponsesRefusal | null {
  const name = Object.keys(value).find((field) => !known.includes(field));
  return name === undefined ? null : refused(`${at}${name}`, `Unknown parameter: '${at}${name}'.`, "unknown_parameter");
}

function parameterRefusal(body: Json): ResponsesRefusal | null {
  const unknown = unknownField("", body, [...parameters]);
  if (unknown) return unknown;
  if (body["stream_options"] !== undefined && body["stream"] !== true) {
    return refused("stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.");
  }
  if (Number(body["max_output_tokens"]) < 16) {
    const words = "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.";
    return refused("max_output_tokens", words, "integer_below_min_value");
  }
  const included = strings(body["include"]).find((one) => !includable.includes(one));
  return included === undefined ? null : unsupported("include[0]", included, includable);
}

function effortRefusal(body: Json): ResponsesRefusal | null {
  const reasoning = object(body["reasoning"]);
  const unknown = unknownField("reasoning.", reasoning, ["effort", "summary"]);
  if (unknown) return unknown;
  const { effort, summary } = reasoning;
  if (summary !== undefined && !["auto", "concise", "detailed"].includes(String(summary))) {
    return unsupported("reasoning.summary", summary, ["auto", "concise", "detailed"]);
  }
  const rules = gptRules[String(body["model"])];
  if (rules === undefined) return null;
  if (effort !== undefined && !rules.efforts.includes(String(effort))) {
    return unsupported("reasoning.effort", effort, rules.efforts, "unsupported_value");
  }
  const sampling = ["temperature", "top_p"].find((field) => body[field] !== undefined);
  if (sampling === undefined || (effort ?? rules.defaultEffort) === "none") return null;
  return refused(sampling, `Unsupported parameter: '${sampling}' is not supported with this model.`);
}

const toolFields: Readonly<Record<string, readonly string[]>> = {
  function: ["type", "name", "description", "parameters", "strict"],
  custom: ["type", "name", "description", "format"],
};

function toolsRefusal({ tools, tool_choice }: Json): ResponsesRefusal | null {
  const names = list(tools).map(({ name }) => name);
  for (const [index, tool] of list(tools).entries()) {
    const at = `tools[${index}]`;
    const known = toolFields[String(tool["type"])];
    if (known === undefined) return unsupported(`${at}.type`, tool["type"], Object.keys(toolFields));
    const words = nameRefusal(`${at}.name`, tool["name"]) ?? unknownField(`${at}.`, tool, known) ?? schemaRefusal(tool, at);
    if (words) return words;
  }
  for (const chosen of [tool_choice, ...list(object(tool_choice)["tools"])]) {
    const { type, name } = object(chosen);
    if (type !== undefined && type !== "allowed_tools" && !names.includes(name)) {
      return refused("tool_choice", `Tool choice '${String(type)}' not found in 'tools' parameter.`);
    }
  }
  return null;
}

function nameRefusal(param: string, name: unknown): ResponsesRefusal | null {
  if (typeof name !== "string") return missing(param);
  const words = `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
  return namePattern.test(name) ? null : refused(param, words, "invalid_value");
}

/** Functions are strict unless they say that they are not: https://github.com/docker/docker-agent/pull/2168. */
function schemaRefusal({ type, name, strict, parameters: schema }: Json, at: string): ResponsesRefusal | null {
  if (type !== "function") return null;
  const { type: kind, properties, required, additionalProperties } = object(schema);
  const invalid = (why: string) => {
    const words = `Invalid schema for function '${String(name)}': ${why}`;
    return refused(`${at}.parameters`, words, "invalid_function_parameters");
  };
  if (kind !== "object") return invalid(`schema must be a JSON Schema of 'type: "object"', got 'type: "${String(kind)}"'.`);
  if (properties === undefined) return invalid("In context=(), object schema missing properties.");
  if (strict === false) return null;
  if (additionalProperties !== false) return invalid("'additionalProperties' is required to be supplied and to be false.");
  const left = Object.keys(object(properties)).find((one) => !strings(required).includes(one));
  return left === undefined ? null : invalid(`'required' is required to include every key in properties. Missing '${left}'.`);
}

function formatRefusal({ text }: Json): ResponsesRefusal | null {
  const { format, ...others } = object(text);
  const unknown = unknownField("text.", others, ["verbosity"]);
  if (unknown || format === undefined) return unknown;
  const { type, name, ...rest } = object(format);
  if (type !== "json_schema") return unknownField("text.format.", { ...rest, ...(name !== undefined && { name }) }, []);
  return (
    nameRefusal("text.format.name", name) ??
    unknownField("text.format.", rest, ["schema", "description", "strict"]) ??
    (rest["schema"] === undefined ? missing("text.format.schema") : null)
  );
}

function itemsRefusal(items: readonly Json[], own?: Reasoning): ResponsesRefusal | null {
  for (const [index, item] of items.entries()) {
    const { type = "message", ...fields } = item;
    const at = `input[${index}]`;
    const kind = String(type);
    const known = itemFields[kind];
    if (known === undefined) return unsupported(at, type, Object.keys(itemFields));
    const phase = kind === "message" && fields["role"] === "assistant" ? ["phase"] : [];
    const words =
      unknownField(`${at}.`, fields, [...known, ...phase]) ??
      idRefusal(kind, fields["id"], at) ??
      valueRefusal(kind, fields, at) ??
      (kind === "reasoning" ? chainRefusal(fields, items.slice(index + 1), own) : null);
    if (words) return words;
  }
  return null;
}

function valueRefusal(kind: string, fields: Json, at: string): ResponsesRefusal | null {
  if (kind === "message") return messageRefusal(fields, at);
  return kind === "reasoning" ? reasoningRefusal(fields, at) : callRefusal(kind, fields, at);
}

function idRefusal(kind: string, id: unknown, at: string): ResponsesRefusal | null {
  const prefix = idPrefixes[kind];
  if (id === undefined || prefix === undefined || String(id).startsWith(`${prefix}_`)) return null;
  const words = `Invalid '${at}.id': '${String(id)}'. Expected an ID that begins with '${prefix}'.`;
  return refused(`${at}.id`, words, "invalid_id_prefix");
}

function messageRefusal({ role, content, phase }: Json, at: string): ResponsesRefusal | null {
  if (!roles.includes(String(role))) return unsupported(`${at}.role`, role, roles);
  if (phase !== undefined && phase !== "commentary" && phase !== "final_answer") {
    return unsupported(`${at}.phase`, phase, ["commentary", "final_answer"]);
  }
  if (typeof content === "string") return null;
  if (!Array.isArray(content)) return missing(`${at}.content`);
  // https://github.com/sunwu51/TabPilot/pull/46
  const kinds = role === "assistant" ? ["output_text", "refusal"] : ["input_text"];
  for (const [index, part] of list(content).entries()) {
    const here = `${at}.content[${index}]`;
    if (!kinds.includes(String(part["type"]))) return unsupported(`${at}.content`, part["type"], kinds);
    if (typeof (part["text"] ?? part["refusal"]) !== "string") return missing(`${here}.text`);
  }
  return null;
}

/** https://github.com/microsoft/agent-framework-go/pull/784 */
function reasoningRefusal({ summary, content }: Json, at: string): ResponsesRefusal | null {
  if (!Array.isArray(summary)) return missing(`${at}.summary`);
  const words = `Invalid '${at}.content': array too long. Expected an array with maximum length 0.`;
  return list(content).length > 0 ? refused(`${at}.content`, words, "array_above_max_length") : null;
}

/**
 * Nothing is stored, so reasoning must be complete in itself, and what it led to must follow it: https://github.com/vercel/ai/issues/7099.
 */
function chainRefusal(item: Json, later: readonly Json[], own?: Reasoning): ResponsesRefusal | null {
  const { encrypted_content: encrypted, id = "rs_" } = item;
  // https://github.com/anomalyco/opencode/issues/7724
  if (typeof encrypted !== "string") {
    const words = `Item with id '${String(id)}' not found. Items are not persisted when \`store\` is set to false.`;
    return refused("input", words);
  }
  // https://github.com/openai/codex/issues/17541
  if (own?.has(encrypted) === false) {
    return refused("input", `The encrypted content ${encrypted} could not be verified.`, "invalid_encrypted_content");
  }
  const [next, second] = later;
  const { type, role, call_id: called } = (next?.["role"] === "assistant" ? second : undefined) ?? next ?? {};
  const isCall = type === "function_call" || type === "custom_tool_call";
  const isFollowed = isCall ? (own?.get(encrypted) ?? called) === called : role === "assistant";
  const words = `Item '${String(id)}' of type 'reasoning' was provided without its required following item.`;
  return isFollowed ? null : refused("input", words);
}

function callRefusal(kind: string, fields: Json, at: string): ResponsesRefusal | null {
  const { call_id: id, name, output } = fields;
  if (typeof id !== "string") return missing(`${at}.call_id`);
  // https://github.com/BigPizzaV3/CodexPlusPlus/issues/315
  if (id === "") return refused(`${at}.call_id`, `Invalid '${at}.call_id': empty string.`, "empty_string");
  if (id.length > callIdCharactersMax) {
    const words = `Invalid '${at}.call_id': string too long. Expected a string with maximum length ${callIdCharactersMax}.`;
    return refused(`${at}.call_id`, words, "string_above_max_length");
  }
  if (kind.endsWith("_output")) {
    return typeof output === "string" || Array.isArray(output) ? null : missing(`${at}.output`);
  }
  const text = kind === "function_call" ? "arguments" : "input";
  return nameRefusal(`${at}.name`, name) ?? (typeof fields[text] === "string" ? null : missing(`${at}.${text}`));
}

/** https://github.com/continuedev/continue/issues/10092, https://github.com/router-for-me/CLIProxyAPI/issues/2368 */
function callsRefusal(items: readonly Json[]): ResponsesRefusal | null {
  const open = new Map<string, string>();
  for (const { type, call_id } of items) {
    const id = String(call_id);
    if (type === "function_call" || type === "custom_tool_call") open.set(id, `${type}_output`);
    else if (String(type).endsWith("_output")) {
      if (open.get(id) !== type) return refused("input", `No tool call found for function call output with call_id ${id}.`);
      open.delete(id);
    }
  }
  const [left] = open.keys();
  return left === undefined ? null : refused("input", `No tool output found for function call ${left}.`);
}

function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

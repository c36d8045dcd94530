/**
 * The parts of a conversation: cache breakpoints, content, tools and their calls, and the messages of each role, by the official schema. A
 * reader checks a part and returns what is sent on; the OpenAPI description is made from the same readers.
 * Clients send back what they got. What answers and the official packages add to a message is accepted and left out: parsed arguments,
 * indexes of calls, reasoning for a model that has none. Images, audio and files are refused with the path of the part.
 * Cache breakpoints have the form of Anthropic's API, which other gateways for it accept too.
 */
import { Type } from "@sinclair/typebox";
import { unsupportedParameter, invalidRequest } from "../../../kernel/errors.ts";
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import { messagesMax } from "../../limits.ts";
import { takesReasoning } from "../../models/dialect.ts";
import type { ChatMessage } from "../../providers/provider.ts";
import { readToolCallId } from "../../tool-call-id.ts";
import {
  added,
  objectOf,
  oneOf,
  reader,
  required,
  type Field,
  type Reader,
  anyString,
  listOf,
  truncated,
  anyObject,
  boolean,
  identifier,
  ignored,
  nullable,
  readField,
  omitIf,
  type ReadContext,
  checkOnly,
} from "./read-value.ts";
import { supports } from "./requested-model.ts";

// Cache breakpoints

/** Longer cache lifetimes have another price, and the catalog has only one write price. */
const lifetime: Reader = reader(Type.Literal("5m"), (value, at) => {
  if (value === "5m") return undefined;
  throw unsupportedParameter(at, `${at}: only 5m is supported, which is also the default`);
});

const breakpoint = objectOf({
  type: required(oneOf("ephemeral"), "The only kind"),
  ttl: added(lifetime, "How long the provider keeps it unread: only 5m is supported"),
});

const breakpointIfSupported: Reader = reader(breakpoint.schema, (value, at, context) => {
  if (!supports(context.model, "cache_control"))
    throw unsupportedParameter(at, `${context.model?.id ?? "The model"} does not support ${at}`);
  return breakpoint(value, at, context);
});

/** @param end the part of the prompt that is cached last */
export function cacheControl(end: string): Field {
  return added(
    breakpointIfSupported,
    `Asks the provider to cache the prompt to the end of ${end}, for requests that begin alike`,
  );
}

// Content: text, or text in parts

const partType = (word: string): Field => required(oneOf(word), "The kind of part");
const textFields = { type: partType("text"), text: required(anyString, "The text") };
const textPart = objectOf(textFields);
const promptPart = objectOf({ ...textFields, cache_control: cacheControl("this part") });
const refusalPart = objectOf({ type: partType("refusal"), refusal: required(anyString, "The text of the refusal") });

export const textContent: Reader = contentOf({ text: textPart });
/** Text of a prompt, which providers can cache. */
const promptContent: Reader = contentOf({ text: promptPart });
/** The model's own refusal is text too. */
const assistantContent: Reader = contentOf({ text: promptPart, refusal: refusalPart });

function contentOf(parts: Record<string, Reader>): Reader {
  const readers = new Map(Object.entries(parts));
  const partSchema = Type.Union([...readers.values()].map(({ schema }) => schema));
  const schema = Type.Union([Type.String(), Type.Array(partSchema, { minItems: 1 })]);
  return reader(schema, (value, at, context) => {
    if (typeof value === "string") return value;
    if (!Array.isArray(value)) throw invalidRequest(at, `${at} must be a string or an array of text parts`);
    const part = reader(partSchema, (one, place) => {
      const type = isJsonObject(one) ? one["type"] : undefined;
      if (typeof type !== "string") throw invalidRequest(place, `${place} must be an object with a type`);
      const read = readers.get(type);
      if (!read)
        throw unsupportedParameter(at, `Cannot send a content part of type "${truncated(type)}": only text content is supported`);
      return read(one, place, context);
    });
    return listOf(part, 1)(value, at, context);
  });
}

// Tools, the choice among them, and a model's calls of them

const functionsMax = 128;

const toolUse = "What it does, so that the model knows when to call it";
const functionFields = {
  name: required(identifier, "Name of the function, which the model writes exactly"),
  description: nullable(anyString, toolUse),
  parameters: nullable(anyObject, "JSON Schema of the arguments; absent: none"),
};
const strict = nullable(boolean, "Whether the arguments must follow the schema exactly");
const customFields = {
  name: required(anyString, "Name of the tool, which the model writes exactly"),
  description: nullable(anyString, toolUse),
  format: nullable(anyObject, "The form of the input"),
};

const toolType = (word: string): Field => required(oneOf(word), "The kind of tool");
const functionTool = objectOf({
  type: toolType("function"),
  function: required(objectOf({ ...functionFields, strict }), "Your function, with arguments in JSON"),
  cache_control: cacheControl("this tool"),
});
const customTool = objectOf({
  type: toolType("custom"),
  custom: required(objectOf(customFields), "Your tool for free text. Not every model supports it"),
});
/** A signature within the id is sent back to models that want it; others get the id without it. */
const toolCallId: Reader = reader(Type.String(), (value, at, context) => {
  const id = String(anyString(value, at, context));
  return supports(context.model, "thought_signatures") ? id : readToolCallId(id).id;
});
/** Helpers of the official packages add a call's index and parsed arguments, and clients send them back. */
const addedByHelpers = (description: string): Field => added(ignored, description);
const callFields = (word: string) => ({
  id: required(toolCallId, "Id of the call, as in the answer"),
  index: addedByHelpers("The index that a stream gave the call; not sent on"),
  type: required(oneOf(word), "The kind of tool that was called"),
});
const functionName = required(anyString, "Name of the function");
const functionArguments = required(anyString, "The arguments as the model wrote them");
const parsedArguments = addedByHelpers("The official packages' parsed arguments; not sent on");
const functionCall = objectOf({
  ...callFields("function"),
  function: required(
    objectOf({ name: functionName, arguments: functionArguments, parsed_arguments: parsedArguments }),
    "The function that was called",
  ),
});
const customCall = objectOf({
  ...callFields("custom"),
  custom: required(
    objectOf({
      name: required(anyString, "Name of the tool"),
      input: required(anyString, "The input as the model wrote it"),
    }),
    "The custom tool that was called",
  ),
});

export const tools: Reader = omitIf(isEmpty, listOf(byType({ function: functionTool, custom: customTool }), 0));
const toolCalls: Reader = omitIf(isEmpty, listOf(byType({ function: functionCall, custom: customCall }), 0));
export const legacyFunctions: Reader = listOf(objectOf(functionFields), 1, functionsMax);
const legacyFunctionCall: Reader = objectOf({ name: functionName, arguments: functionArguments });
export const legacyFunctionChoice: Reader = wordOrObject(
  oneOf("none", "auto"),
  objectOf({ name: required(anyString, "Name of the function to call") }),
);

const namedTool = objectOf({ name: required(anyString, "Its name") });
const allowedTools = objectOf({
  mode: required(oneOf("auto", "required"), "Whether the model must call one"),
  tools: required(listOf(anyObject, 0), "The tools, each as in a choice of one tool"),
});
const choiceType = (...words: string[]): Field => required(oneOf(...words), "The kind of choice");
const choices: Record<string, Reader> = {
  function: objectOf({ type: choiceType("function"), function: required(namedTool, "The function to call") }),
  custom: objectOf({ type: choiceType("custom"), custom: required(namedTool, "The custom tool to call") }),
  allowed_tools: objectOf({
    type: choiceType("allowed_tools"),
    allowed_tools: required(allowedTools, "The tools among which the model may choose"),
  }),
};
const anyChoiceType = choiceType(...Object.keys(choices));
const namedChoice = reader(Type.Union(Object.values(choices).map(({ schema }) => schema)), readNamedChoice);
const anyChoice = wordOrObject(oneOf("none", "auto", "required"), namedChoice);

/** Without tools `none` and `auto` have no effect, and other choices are impossible. */
export const toolChoice: Reader = reader(anyChoice.schema, (value, at, context) => {
  const chosen = anyChoice(value, at, context);
  if (hasTools(context)) {
    if (context.model?.refusesForcedTools && isForced(chosen)) {
      throw unsupportedParameter(
        at,
        `${context.model.id} does not support a ${at} that forces a call: use "auto" and ask for the call`,
      );
    }
    return chosen;
  }
  if (value === "none" || value === "auto") return undefined;
  throw invalidRequest(at, `${at} needs tools to choose from`);
});

function isForced(choice: unknown): boolean {
  if (!isJsonObject(choice)) return choice === "required";
  const allowed = choice["allowed_tools"];
  return !isJsonObject(allowed) || allowed["mode"] === "required";
}

export const parallelToolCalls: Reader = omitIf((_, context) => !hasTools(context), boolean);

function hasTools({ request }: ReadContext): boolean {
  return Array.isArray(request["tools"]) && request["tools"].length > 0;
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Custom tools take free text; few providers have them. */
function byType(readers: { function: Reader; custom: Reader }): Reader {
  const anyType = required(oneOf("function", "custom"), "Which of the two it is");
  return reader(Type.Union([readers.function.schema, readers.custom.schema]), (value, at, context) => {
    if (!isJsonObject(value)) throw invalidRequest(at, `${at} must be an object`);
    const type = readField(value["type"], `${at}.type`, anyType, context);
    if (type === "function") return readers.function(value, at, context);
    if (!supports(context.model, "custom_tools"))
      throw unsupportedParameter(`${at}.type`, `${context.model?.id ?? "The model"} does not support custom tools`);
    return readers.custom(value, at, context);
  });
}

function wordOrObject(word: Reader, other: Reader): Reader {
  return reader(Type.Union([word.schema, other.schema]), (value, at, context) =>
    typeof value === "string" ? word(value, at, context) : other(value, at, context),
  );
}

function readNamedChoice(value: unknown, at: string, context: ReadContext): unknown {
  if (!isJsonObject(value)) throw invalidRequest(at, `${at} must be a string or an object`);
  const type = readField(value["type"], `${at}.type`, anyChoiceType, context);
  const chosen = choices[String(type)]?.(value, at, context);
  const wanted = isJsonObject(value["function"]) ? value["function"]["name"] : undefined;
  if (type === "function" && hasTools(context) && !toolNames(context).includes(wanted)) {
    throw invalidRequest(`${at}.function.name`, `${at}.function.name is not the name of a tool that was sent`);
  }
  return chosen;
}

function toolNames({ request }: ReadContext): unknown[] {
  const sent: unknown[] = Array.isArray(request["tools"]) ? request["tools"] : [];
  return sent.map((tool) => (isJsonObject(tool) && isJsonObject(tool["function"]) ? tool["function"]["name"] : undefined));
}

// Messages: each role with its fields of the official schema

const roleUse = "The role";
const contentUse = "Text, or text in parts. Only text content is supported";
const nameUse = "Distinguishes speakers of one role; in a function's message the name of the function, in a tool's a label";
const anyRole = required(anyString, roleUse);
const roleField = (...roles: string[]): Field => required(oneOf(...roles), roleUse);
const content = required(promptContent, contentUse);
const name = nullable(anyString, nameUse);

const noAudio: Reader = reader(Type.Never(), (_, at) => {
  throw unsupportedParameter(at, `Cannot send ${at}: only text content is supported`);
});
/** Reasoning is passed on to models that reason, whose provider may use another form, and left out for others. */
const reasoningContent: Reader = reader(Type.String(), (value, at, context) => {
  const read = anyString(value, at, context);
  return context.model === null || takesReasoning(context.model) ? read : undefined;
});

const plainMessage = objectOf({ role: roleField("developer", "system", "user"), content, name });
const messageReaders: Record<string, Reader> = {
  developer: plainMessage,
  system: plainMessage,
  user: plainMessage,
  assistant: objectOf({
    role: roleField("assistant"),
    content: nullable(assistantContent, contentUse),
    refusal: nullable(anyString, "The refusal of an earlier answer"),
    name,
    audio: nullable(noAudio, "Not supported: only null"),
    tool_calls: nullable(toolCalls, "The calls of an earlier answer"),
    function_call: nullable(legacyFunctionCall, "The function call of an earlier answer"),
    reasoning_content: added(reasoningContent, "The reasoning of an earlier answer: sent on to models that reason"),
    annotations: nullable(ignored, "The annotations of an earlier answer; not sent on"),
    parsed: added(ignored, "The official packages' parsed form of an earlier answer; not sent on"),
  }),
  tool: objectOf({
    role: roleField("tool"),
    content,
    tool_call_id: required(toolCallId, "Id of the call whose result this message is"),
    name: nullable(checkOnly(anyString), nameUse),
  }),
  function: objectOf({
    role: roleField("function"),
    content: nullable(textContent, contentUse),
    name: required(anyString, nameUse),
  }),
};
const roles = new Map(Object.entries(messageReaders));

export const messagesSchema = Type.Array(Type.Union([...new Set(roles.values())].map(({ schema }) => schema)), {
  minItems: 1,
  maxItems: messagesMax,
  description: "The conversation, oldest message first",
});

/** @throws GatewayError invalid_request or unsupported_parameter with the first wrong field */
export function readMessages(value: unknown, context: ReadContext): ChatMessage[] {
  if (value === undefined) throw invalidRequest("messages", "messages is required");
  if (!Array.isArray(value)) throw invalidRequest("messages", "messages must be an array");
  if (value.length === 0) throw invalidRequest("messages", "messages must not be empty");
  if (value.length > messagesMax) throw invalidRequest("messages", `messages must not have more than ${messagesMax} items`);
  return value.map((message, index) => readMessage(message, `messages[${index}]`, context));
}

function readMessage(value: unknown, at: string, context: ReadContext): ChatMessage {
  if (!isJsonObject(value)) throw invalidRequest(at, `${at} must be an object`);
  const role = String(readField(value["role"], `${at}.role`, anyRole, context));
  const read = roles.get(role);
  if (!read)
    throw invalidRequest(`${at}.role`, `${at}.role must be one of ${[...roles.keys()].map((known) => `"${known}"`).join(", ")}`);
  const message = read(value, at, context);
  // An answer may be reasoning alone, if its tokens were used up.
  const mustSay = role === "assistant" && value["reasoning_content"] == null;
  if (!isJsonObject(message) || (mustSay && saysNothing(message))) {
    throw invalidRequest(`${at}.content`, `${at}.content is required where no tool is called`);
  }
  return { ...message, role: role };
}

function saysNothing(message: JsonObject): boolean {
  return ["content", "refusal", "tool_calls", "function_call"].every((field) => message[field] === undefined);
}

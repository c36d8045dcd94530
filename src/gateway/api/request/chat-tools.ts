/** Tools, the choice among them, and the calls that a model made of them. */
import { Type } from "@sinclair/typebox";
import { readToolCallId } from "../../providers/wire/tool-call-id.ts";
import { isJsonObject } from "../../../http/json-object.ts";
import {
  anyObject,
  anyString,
  boolean,
  identifier,
  ignored,
  listOf,
  objectOf,
  oneOf,
  reader,
  readField,
  omitIf,
  type ReadContext,
  type Reader,
} from "./read-value.ts";
import { invalidRequest, unsupportedParameter } from "../../../http/bad-request.ts";
import { supports } from "./supports.ts";

const functionsMax = 128;

const functionFields = {
  name: { read: identifier, required: true },
  description: { read: anyString, nullable: true },
  parameters: { read: anyObject, nullable: true },
};
const required = (read: Reader) => ({ read, required: true });

const functionTool = objectOf({
  type: required(oneOf("function")),
  function: required(objectOf({ ...functionFields, strict: { read: boolean, nullable: true } })),
});
const customTool = objectOf({
  type: required(oneOf("custom")),
  custom: required(objectOf({ name: required(anyString), description: { read: anyString }, format: { read: anyObject } })),
});
/** A model's signature within the id goes back to those that want it back; the others get the id that it was put into. */
export const toolCallId: Reader = reader(Type.String(), (value, at, context) => {
  const id = String(anyString(value, at, context));
  return supports(context.model, "thought_signatures") ? id : readToolCallId(id).id;
});
/** The official packages put streams together with the index of each call, parse its arguments, and send all of it back. */
const addedByHelpers = { read: ignored, nullable: true };
const functionCall = objectOf({
  id: required(toolCallId),
  index: addedByHelpers,
  type: required(oneOf("function")),
  function: required(objectOf({ name: required(anyString), arguments: required(anyString), parsed_arguments: addedByHelpers })),
});
const customCall = objectOf({
  id: required(toolCallId),
  index: addedByHelpers,
  type: required(oneOf("custom")),
  custom: required(objectOf({ name: required(anyString), input: required(anyString) })),
});

export const tools: Reader = omitIf(isEmpty, listOf(byType({ function: functionTool, custom: customTool }), 0));
export const toolCalls: Reader = omitIf(isEmpty, listOf(byType({ function: functionCall, custom: customCall }), 0));
export const legacyFunctions: Reader = listOf(objectOf(functionFields), 1, functionsMax);
export const legacyFunctionCall: Reader = objectOf({ name: required(anyString), arguments: required(anyString) });
export const legacyFunctionChoice: Reader = wordOrObject(oneOf("none", "auto"), objectOf({ name: required(anyString) }));

const namedTool = objectOf({ name: required(anyString) });
const choices: Record<string, Reader> = {
  function: objectOf({ type: required(oneOf("function")), function: required(namedTool) }),
  custom: objectOf({ type: required(oneOf("custom")), custom: required(namedTool) }),
  allowed_tools: objectOf({
    type: required(oneOf("allowed_tools")),
    allowed_tools: required(objectOf({ mode: required(oneOf("auto", "required")), tools: required(listOf(anyObject, 0)) })),
  }),
};
const namedChoice = reader(Type.Union(Object.values(choices).map(({ schema }) => schema)), readNamedChoice);
const anyChoice = wordOrObject(oneOf("none", "auto", "required"), namedChoice);

/** Without tools `none` and `auto` say nothing; anything else could not be done. */
export const toolChoice: Reader = reader(anyChoice.schema, (value, at, context) => {
  const chosen = anyChoice(value, at, context);
  if (hasTools(context)) return chosen;
  if (value === "none" || value === "auto") return undefined;
  throw invalidRequest(at, `${at} needs tools to choose from`);
});

export const parallelToolCalls: Reader = omitIf((_, context) => !hasTools(context), boolean);

function hasTools({ request }: ReadContext): boolean {
  return Array.isArray(request["tools"]) && request["tools"].length > 0;
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Custom tools are free text for and from the model, and few providers have them. */
function byType(readers: { function: Reader; custom: Reader }): Reader {
  return reader(Type.Union([readers.function.schema, readers.custom.schema]), (value, at, context) => {
    if (!isJsonObject(value)) throw invalidRequest(at, `${at} must be an object`);
    const type = readField(value["type"], `${at}.type`, required(oneOf("function", "custom")), context);
    if (type === "function") return readers.function(value, at, context);
    if (!supports(context.model, "custom_tools"))
      throw unsupportedParameter(`${at}.type`, "The model does not support custom tools");
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
  const type = readField(value["type"], `${at}.type`, required(oneOf(...Object.keys(choices))), context);
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

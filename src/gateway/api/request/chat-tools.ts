/** Tools, the choice among them, and a model's calls of them. */
import { Type } from "@sinclair/typebox";
import { cacheControl } from "./cache-control.ts";
import { readToolCallId } from "../../tool-call-id.ts";
import { isJsonObject } from "../../../http/json-object.ts";
import {
  added,
  anyObject,
  anyString,
  boolean,
  identifier,
  ignored,
  listOf,
  nullable,
  objectOf,
  oneOf,
  reader,
  readField,
  required,
  omitIf,
  type Field,
  type ReadContext,
  type Reader,
} from "./read-value.ts";
import { invalidRequest, unsupportedParameter } from "../../../http/bad-request.ts";
import { supports } from "./supports.ts";

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
export const toolCallId: Reader = reader(Type.String(), (value, at, context) => {
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
export const toolCalls: Reader = omitIf(isEmpty, listOf(byType({ function: functionCall, custom: customCall }), 0));
export const legacyFunctions: Reader = listOf(objectOf(functionFields), 1, functionsMax);
export const legacyFunctionCall: Reader = objectOf({ name: functionName, arguments: functionArguments });
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

/** The command that sends an operation's example. Address and keys are variables of the shell, so that it works as pasted. */
import type { Operation, Parameter } from "../../../openapi/operation.ts";
import { exampleValue } from "./example-value.ts";
import { furtherFields, mcpMessage, pathValues } from "./example-fields.ts";
import { shapeOf, type Shape } from "./shape.ts";

export interface ExampleRequest {
  method: string;
  path: string;
  operation: Operation;
  parameters: Parameter[];
  /** Of a JSON body; null: the operation takes none. */
  body: Shape | null;
}

/** The variable with the key of each security scheme. */
const keyVariables: Record<string, string> = { apiKey: "WEIR_KEY", ApiKeyAuth: "WEIR_TOOLS_KEY", operatorToken: "WEIR_TOKEN" };

export function curlOf(request: ExampleRequest): string {
  const { method, operation } = request;
  const address = `"$WEIR_URL${examplePath(request)}${exampleQuery(request.parameters)}"`;
  const verb = method === "get" ? "" : method === "post" ? "-X POST " : `-X ${method.toUpperCase()} `;
  return [`curl ${verb}${address}`, ...keyHeader(operation), ...headersOf(request), ...bodyArguments(request)].join(" \\\n  ");
}

/** The JSON body of the example; undefined: none. */
export function exampleBody({ operation: { operationId }, body }: ExampleRequest): unknown {
  if (operationId === "mcp") return mcpMessage;
  if (body === null) return undefined;
  const value = exampleValue(body);
  return typeof value === "object" ? { ...value, ...furtherFields(operationId) } : value;
}

function keyHeader({ security }: Operation): string[] {
  const [scheme] = Object.keys(security.at(0) ?? {});
  const variable = keyVariables[scheme ?? ""];
  return variable === undefined ? [] : [`-H "Authorization: Bearer $${variable}"`];
}

/** What the operation needs besides its key and the type of its body. */
function headersOf({ operation: { operationId, responses }, parameters }: ExampleRequest): string[] {
  const needed = parameters.filter((parameter) => parameter.in === "header" && parameter.required);
  const answers = responses["200"];
  const types = answers !== undefined && "content" in answers ? Object.keys(answers.content ?? {}) : [];
  const accepts = operationId === "mcp" || operationId === "frontDoor" ? [`-H "Accept: ${types.join(", ")}"`] : [];
  return [...needed.map(({ name }) => `-H "${name}: FILE"`), ...accepts];
}

function bodyArguments(request: ExampleRequest): string[] {
  const [type] = Object.keys(request.operation.requestBody?.content ?? {});
  if (type === undefined) return [];
  const header = `-H "Content-Type: ${type}"`;
  if (type !== "application/json") return [header, "--data-binary @FILE"];
  return [header, `-d '${JSON.stringify(exampleBody(request)).replaceAll("'", String.raw`'\''`)}'`];
}

function examplePath({ path }: ExampleRequest): string {
  const pieces = path.split("/");
  const named = pieces.map((piece, index) => (piece === "{id}" ? (pieces[index - 1] ?? "") : piece.replaceAll(/[{}]/g, "")));
  return pieces
    .map((piece, index) => (piece.startsWith("{") ? (pathValues[named[index] ?? ""] ?? piece.slice(1, -1).toUpperCase()) : piece))
    .join("/");
}

function exampleQuery(parameters: readonly Parameter[]): string {
  const needed = parameters.filter((parameter) => parameter.in === "query" && parameter.required);
  if (needed.length === 0) return "";
  const values = needed.map(({ name, schema }): [string, string] => [name, String(exampleValue(shapeOf(schema), name))]);
  return `?${String(new URLSearchParams(values))}`;
}

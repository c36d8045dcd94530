/** The command that sends an operation's example. Address and keys are variables of the shell, so that it works as pasted. */
import type { Operation, Parameter } from "../../../openapi/operation.ts";
import { exampleValue } from "./example-value.ts";
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

/** By the noun before the parameter, or the parameter's name. */
const pathExamples: Record<string, string> = {
  models: "sandbox/echo",
  workspaces: "default",
  members: "owner@localhost",
  accounts: "owner@localhost",
  slug: "okta",
  file: "latest.ndjson",
};

/** Bodies that no schema describes. */
const bodies: Record<string, unknown> = { mcp: { jsonrpc: "2.0", id: 1, method: "tools/list" } };

export function curlOf(request: ExampleRequest): string {
  const { method, operation } = request;
  const address = `"$WEIR_URL${examplePath(request)}${exampleQuery(request.parameters)}"`;
  const verb = method === "get" ? "" : method === "post" ? "-X POST " : `-X ${method.toUpperCase()} `;
  return [`curl ${verb}${address}`, ...keyHeader(operation), ...bodyArguments(request)].join(" \\\n  ");
}

/** The JSON body of the example; undefined: none. */
export function exampleBody({ method, operation, body }: ExampleRequest): unknown {
  const fixed = bodies[operation.operationId];
  if (fixed !== undefined || body === null) return fixed;
  return exampleValue(body, { fills: method === "patch" });
}

function keyHeader({ security }: Operation): string[] {
  const [scheme] = Object.keys(security.at(0) ?? {});
  const variable = keyVariables[scheme ?? ""];
  return variable === undefined ? [] : [`-H "Authorization: Bearer $${variable}"`];
}

function bodyArguments(request: ExampleRequest): string[] {
  const { requestBody, operationId } = request.operation;
  const [type] = Object.keys(requestBody?.content ?? {});
  if (type === undefined) return [];
  const accepts = operationId === "mcp" ? [`-H "Accept: application/json, text/event-stream"`] : [];
  const header = `-H "Content-Type: ${type}"`;
  if (type !== "application/json") return [header, "--data-binary @FILE"];
  return [...accepts, header, `-d '${JSON.stringify(exampleBody(request)).replaceAll("'", String.raw`'\''`)}'`];
}

function examplePath({ path }: ExampleRequest): string {
  const [noun = ""] = /[^/]+(?=\/\{id\})/.exec(path) ?? [];
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => pathExamples[name === "id" ? noun : name] ?? name.toUpperCase());
}

function exampleQuery(parameters: readonly Parameter[]): string {
  const needed = parameters.filter((parameter) => parameter.in === "query" && parameter.required);
  if (needed.length === 0) return "";
  const values = needed.map(({ name, schema }): [string, string] => [name, String(exampleValue(shapeOf(schema), { name }))]);
  return `?${String(new URLSearchParams(values))}`;
}

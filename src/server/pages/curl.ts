/**
 * The command that sends an operation's example. Address and keys are shell variables, so that it works as pasted. Example values come from
 * the schema, or from the tables below for fields whose schema says too little.
 */
import type { Operation, Parameter } from "../../openapi/operation.ts";
import { shapeOf, type Shape, withoutNull } from "./shape.ts";

export interface ExampleRequest {
  method: string;
  path: string;
  operation: Operation;
  parameters: Parameter[];
  /** The shape of a JSON body; null: the operation takes none. */
  body: Shape | null;
}

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

/** A message of another protocol, which no schema describes. */
const mcpMessage = { jsonrpc: "2.0", id: 1, method: "tools/list" };

/** Example values in paths, by the noun before `{id}` or by the parameter's name. */
const pathValues: Record<string, string> = {
  models: "sandbox/echo",
  workspaces: "default",
  members: "owner@localhost",
  accounts: "owner@localhost",
  slug: "okta",
  file: "latest.ndjson",
  part: "inference",
};

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

/** Example values of fields, by name. */
const exampleFields: Record<string, unknown> = {
  model: "sandbox/echo",
  messages: [{ role: "user", content: "Hello, weir" }],
  prompt: "Hello, weir",
  input: "Hello, weir",
  workspace: "default",
  project: "my-project",
  product: "my-product",
  name: "my-name",
  email: "someone@example.com",
  owner: "owner@localhost",
  usd: "10.00",
  ref: "invoice-1",
  since: "0",
  date: "2026-11-20",
  published_at: "2026-11-20T00:00:00Z",
  cve_id: "CVE-2021-44228",
  url: "https://github.com/owner/name",
  connector: "vouch",
  provider: "openai",
  key: "PROVIDER_KEY",
  subject: "A question",
  message: "What happened, in words",
  expected_behavior: "What should happen",
  actual_behavior: "What happens instead",
  findings: ["FINDING_ID"],
  sbom: { bomFormat: "CycloneDX", specVersion: "1.6", components: [] },
};

/**
 * A small value that a schema allows; an object has only its required fields. @param name of the field, for which `exampleFields` may have
 * a value
 */
function exampleValue(shape: Shape, name = ""): unknown {
  const { words, types, branches, items, fields, numbers } = withoutNull(shape);
  if (words.length > 0) return words[0];
  if (Object.hasOwn(exampleFields, name)) return exampleFields[name];
  const [first] = branches;
  if (first !== undefined) return exampleValue(first, name);
  if (types.includes("array")) return items === null || !(numbers.minItems ?? 0) ? [] : [exampleValue(items)];
  if (types.includes("object")) {
    const required = fields.filter((field) => field.required);
    return Object.fromEntries(required.map((field) => [field.name, exampleValue(field.shape, field.name)]));
  }
  if (types.includes("integer") || types.includes("number")) return numbers.minimum ?? 1;
  return types.includes("boolean") ? true : name.toUpperCase();
}

/** The variable with the key of each security scheme. */
const keyVariables: Record<string, string> = { apiKey: "WEIR_KEY", ApiKeyAuth: "WEIR_TOOLS_KEY", operatorToken: "WEIR_TOKEN" };

function keyHeader({ security }: Operation): string[] {
  const [scheme] = Object.keys(security.at(0) ?? {});
  const variable = keyVariables[scheme ?? ""];
  return variable === undefined ? [] : [`-H "Authorization: Bearer $${variable}"`];
}

/** The headers that the operation needs in addition to its key and the type of its body. */
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

/** Fields of the example although the schema requires none of them, by the end of the operation's id. */
const further: [operation: string, fields: Record<string, unknown>][] = [
  ["createEmbedding", { model: "sandbox/embed" }],
  ["_update_finding", { status: "in_progress" }],
  ["_get_remediation", { project_id: "PROJECT_ID" }],
  ["postKeys", { owner: "owner@localhost" }],
  ["patchKeysId", { rate_limit_rpm: 120 }],
  ["patchWorkspacesId", { spend_limit_usd: "100.00" }],
  ["postPromptsDelete", { workspace: "default", before: "2026-01-01T00:00:00Z" }],
  ["postConnections", { method: "record_only" }],
];

function furtherFields(operation: string): Record<string, unknown> {
  return further.find(([end]) => operation.endsWith(end))?.[1] ?? {};
}

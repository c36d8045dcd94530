/**
 * The operations of /api/console, made from its endpoints, so that the schemas that check requests also describe them. The Workbench has
 * the body and the answers of a chat completion, and also the refusals of the control API.
 */
import { errorStatuses, type ErrorCode } from "../accounts/errors.ts";
import { controlPrefix } from "../control-api/api.ts";
import type { Endpoint } from "../control-api/endpoint.ts";
import { endpoints } from "../control-api/endpoints.ts";
import { jsonSchema, schemaOrReference, type JsonSchema, type Names } from "../http/json-schema.ts";
import { chatCompletionExchange } from "./inference-operations.ts";
import {
  byStatus,
  jsonContent,
  type ResponseDescription,
  type Operation,
  type Parameter,
  type Paths,
  type Reference,
  type Exchange,
} from "./operation.ts";

/** The meaning of `:id` in a path, by the noun before it. */
/** What `:id` is in paths, by their first word. */
export const idWords: Record<string, string> = {
  workspaces: "Id or exact name of a workspace",
  members: "E-mail address of a member",
  accounts: "E-mail address of a person",
  invitations: "Id or exact name of a workspace",
  keys: "Id of a key",
  log: "Id of a generation, or of its request",
  refusals: "Id of a refused call",
  statements: "The month of a statement, such as 2026-10",
  prompts: "Id of a generation",
  sessions: "Id of a session",
  connections: "Id of a connection",
  providers: "Id of a provider",
  "provider-keys": "Id of an own provider key",
  "alert-rules": "Id of an alert rule",
  "alert-webhooks": "Id of an alert webhook",
  alerts: "Id of an alert",
  "top-ups": "Id of a card top-up",
  projects: "Id or exact name of a project",
  products: "Id or exact name of a product",
  findings: "Id of a finding",
  vulnerabilities: "Any id of a vulnerability, such as CVE-2021-44228",
  tickets: "Id of a ticket",
  views: "Id of a saved view",
};

export const actAs: Parameter = {
  name: "X-Act-As",
  in: "header",
  required: false,
  description: "E-mail address of a member: the request acts as that person, with that role",
  schema: { type: "string" },
};

/** Error answers by status. */
export function controlRefusals(): Record<string, ResponseDescription> {
  // The keys of the table are its codes.
  const codes = Object.keys(errorStatuses) as ErrorCode[];
  const groups = byStatus(codes, (code) => errorStatuses[code]);
  const answers = groups.map(([status, group]) => {
    const description = group.map((code) => `\`${code}\``).join(", ");
    return [`Control${status}`, { description, content: jsonContent(errorSchema(group)) }] as const;
  });
  return Object.fromEntries(answers);
}

/** @param keyPrefix for the answers of the inference API, which the Workbench also gives */
export function controlPaths(names: Names, keyPrefix: string): Paths {
  const paths: Paths = {};
  for (const endpoint of endpoints) {
    const path = controlPrefix + endpoint.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: described(endpoint, names, keyPrefix) };
  }
  return paths;
}

function errorSchema(codes: ErrorCode[]): JsonSchema {
  const error = {
    type: "object",
    required: ["code", "field", "message"],
    properties: {
      code: { type: "string", enum: codes, description: "Stable code for programs" },
      field: { type: ["string", "null"], description: "The field of the request that is wrong, or null" },
      message: { type: "string", description: "The action and the cause, for people" },
    },
    description: "What went wrong",
  };
  return { type: "object", required: ["error"], properties: { error } };
}

/** The error statuses of endpoints that change nothing and have no body. */
const readingStatuses = ["400", "401", "403", "404", "429", "500", "503"];
const changingStatuses = [...readingStatuses, "408", "409", "413"];

function described(endpoint: Endpoint, names: Names, keyPrefix: string): Operation {
  const base = operation(endpoint, names);
  if (!endpoint.completes) return base;
  const refusals = Object.entries(controlRefusals()).map(([name, refusal]) => [name.slice("Control".length), refusal] as const);
  const refused = Object.fromEntries(refusals.filter(([status]) => changingStatuses.includes(status)));
  return { ...base, ...asChat(chatCompletionExchange(keyPrefix), refused) };
}

const actAsReference: Reference = { $ref: "#/components/parameters/ActAs" };

function operation(endpoint: Endpoint, names: Names): Operation {
  const { method, path, summary, view, status, progress, file, completes, csv, ndjson, zip, takesToolsKey } = endpoint;
  const reads = method === "GET" || method === "DELETE";
  const queries = reads || file !== null || completes;
  const answer = schemaOrReference(view, names);
  const further = {
    ...(progress && { "application/x-ndjson": { schema: progressLine(answer) } }),
    ...(ndjson && { "application/x-ndjson": { schema: { type: "string", description: "A row a line, with `format=ndjson`" } } }),
    ...(csv && { "text/csv": { schema: { type: "string", description: "A table, with `format=csv`" } } }),
    ...(zip && { "application/zip": { schema: { type: "string", description: "An archive, with `format=zip`" } } }),
  };
  const parts = progress ? "; as `application/x-ndjson` with each part as soon as it ends" : "";
  return {
    operationId: method.toLowerCase() + path.split(/[/:]+/).map(capitalized).join(""),
    summary: `${summary}${parts}`,
    tags: [controlTagOf(path)],
    security: [{ operatorToken: [] }, ...(takesToolsKey ? [{ ApiKeyAuth: [] }] : [])],
    parameters: [...idParameters(path), ...(queries ? queryParameters(endpoint, names) : []), actAsReference],
    ...(!reads && { requestBody: file === null ? requestBody(endpoint, names) : fileBody(file) }),
    responses: {
      [status]: { description: "Done", content: { ...jsonContent(answer), ...further } },
      ...refusalReferences(method === "GET" ? readingStatuses : changingStatuses),
    },
    "x-addition": true,
  };
}

/** A line of progress: parts, then the result or an error. */
function progressLine(result: JsonSchema): JsonSchema {
  const properties = {
    checked: { type: "object", description: "A part that has ended" },
    result: { ...result, description: "The answer: in the last line" },
    error: { type: "object", description: "The error, as in an error's body: in the last line" },
  };
  return { type: "object", properties, minProperties: 1, maxProperties: 1 };
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The tags of the control API, by the first words of their paths; those of other words are in `control-security`. */
const controlTags = {
  "control-accounts": [
    "workspaces",
    "members",
    "accounts",
    "invitations",
    "keys",
    "session",
    "sessions",
    "session-links",
    "second-factor",
    "audit",
    "checklist",
    "evidence",
    "views",
    "secrets",
    "service",
    "status",
  ],
  "control-inference": [
    "credit",
    "top-ups",
    "top-up-settings",
    "log",
    "refusals",
    "usage",
    "statements",
    "billing",
    "seller",
    "prompts",
    "models",
    "ledger",
    "migrate",
    "provider-keys",
    "providers",
    "workbench",
  ],
} as const;

function controlTagOf(path: string): string {
  const word = path.split("/")[1] ?? "";
  const found = Object.entries(controlTags).find(([, words]) => (words as readonly string[]).includes(word));
  return found?.[0] ?? "control-security";
}

function idParameters(path: string): Parameter[] {
  const [, noun = ""] = path.split("/");
  if (!path.includes("/:id")) return [];
  return [{ name: "id", in: "path", required: true, description: idWords[noun] ?? "", schema: { type: "string" } }];
}

function queryParameters({ fields }: Endpoint, names: Names): Parameter[] {
  return Object.entries(fields.properties).map(([name, schema]) => {
    const { description, ...rest } = jsonSchema(schema, names);
    const required = fields.required?.includes(name) ?? false;
    return { name, in: "query", required, description: String(description ?? ""), schema: rest };
  });
}

/** Unknown fields are refused. */
function requestBody({ fields }: Endpoint, names: Names): NonNullable<Operation["requestBody"]> {
  const schema = { ...jsonSchema(fields, names), additionalProperties: false };
  return { required: (fields.required ?? []).length > 0, content: jsonContent(schema) };
}

function fileBody(description: string): NonNullable<Operation["requestBody"]> {
  return { required: true, content: { "application/octet-stream": { schema: { description } } } };
}

function refusalReferences(statuses: string[]): Record<string, Reference> {
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Control${status}` }]));
}

/** Gives an operation the body and the answers of a chat completion. @param refusals the control API's answers by status */
function asChat(chat: Exchange, refusals: Record<string, ResponseDescription>): Exchange {
  const merged = Object.entries(refusals).map(([status, refusal]): [string, ResponseDescription] => {
    const answer = chat.responses[status];
    return [status, answer === undefined ? refusal : either(answer, refusal)];
  });
  return { requestBody: chat.requestBody, responses: { ...chat.responses, ...Object.fromEntries(merged) } };
}

function either(answer: ResponseDescription, refusal: ResponseDescription): ResponseDescription {
  const anyOf = [answer, refusal].map(({ content }): JsonSchema => content?.["application/json"]?.schema ?? {});
  const description = `${answer.description}. Before the request is the inference API's: ${refusal.description}`;
  return { ...answer, description, content: jsonContent({ anyOf }) };
}

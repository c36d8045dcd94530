/**
 * The parts of an OpenAPI 3.1.0 document that are used (https://spec.openapis.org/oas/v3.1.0), and the headers of the inference API's
 * answers, with the names that the answers use.
 */
import { generationHeaders, retryHeaders, windowHeaders } from "../gateway/api/answer/response.ts";
import type { JsonSchema } from "../http/json-schema.ts";

export interface Reference {
  $ref: string;
}

export interface MediaType {
  schema: JsonSchema;
  examples?: Record<string, { value: unknown }>;
}

export interface ResponseDescription {
  description: string;
  headers?: Record<string, Reference>;
  content?: Record<string, MediaType>;
  /** Not in the specification. */
  "x-addition"?: true;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description: string;
  schema: JsonSchema;
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { required: boolean; content: Record<string, MediaType> };
  responses: Record<string, ResponseDescription | Reference>;
  /** Not in the specification. */
  "x-addition"?: true;
}

/** The body of a request, and its answers by status. */
export interface Exchange {
  requestBody: NonNullable<Operation["requestBody"]>;
  responses: Record<string, ResponseDescription>;
}

/** By path, then by method in lower case. */
export type Paths = Record<string, Record<string, Operation>>;

export function jsonContent(schema: JsonSchema): Record<string, MediaType> {
  return { "application/json": { schema } };
}

/** HEAD of an operation: the same without a body and without ranges. */
export function headOf({ operationId, summary, responses, ...rest }: Operation): Operation {
  const bare = Object.entries(responses).filter(([status]) => status !== "206" && status !== "416");
  const bodiless = bare.map(([status, response]): [string, ResponseDescription] => [
    status,
    { description: "description" in response ? response.description : "" },
  ]);
  return {
    ...rest,
    operationId: `${operationId}Head`,
    summary: `${summary}: only the headers`,
    responses: Object.fromEntries(bodiless),
  };
}

/** Grouped by status, in the order of the statuses. */
export function byStatus<Code extends string>(codes: readonly Code[], statusOf: (code: Code) => number): [string, Code[]][] {
  const groups = Map.groupBy(codes, statusOf);
  return [...groups].toSorted(([a], [b]) => a - b).map(([status, group]) => [String(status), group]);
}

/** A header of the inference API's answers. */
export interface Header {
  description: string;
  schema: JsonSchema;
  "x-addition"?: true;
}

const ours = { "x-addition": true } as const;
const text = { type: "string" };
const count = { type: "integer", minimum: 0 };

export const headers: Record<string, Header> = {
  "x-generation-id": { description: "Id of the generation, in every answer after the request was accepted", schema: text },
  "x-request-id": { description: "Internal audit id, in every answer after the request was accepted", schema: text },
  "retry-after": { description: "When to try again, in whole seconds", schema: { type: "integer", minimum: 1 } },
  "retry-after-ms": { description: "The same, in milliseconds", schema: { type: "integer", minimum: 1 }, ...ours },
  "x-ratelimit-limit-requests": { description: "The key's requests in any 60 seconds", schema: count, ...ours },
  "x-ratelimit-remaining-requests": {
    description: "How many requests are left in the minute, as of a few seconds ago where several gateways serve the key",
    schema: count,
    ...ours,
  },
  "x-ratelimit-reset-requests": {
    description: "When the full limit is available again, such as `59.5s` or `120ms`",
    schema: text,
    ...ours,
  },
  "x-ignored-fields": {
    description: "The request's fields that were left out, such as hints that the model does not take: at most 20, sorted",
    schema: text,
    ...ours,
  },
  "x-route": {
    description:
      "The route that served: `<provider id>/<model id>`, with `; key=own` on the workspace's own key. Early access: only while the workspace has routing on",
    schema: text,
  },
  "request-id": { description: "The same as `x-request-id`, as clients of Messages read it", schema: text, ...ours },
  "x-token-count": {
    description: "`estimated`: the gateway has estimated the count. Absent: the provider has counted",
    schema: { type: "string", enum: ["estimated"] },
    ...ours,
  },
  "idempotent-replayed": {
    description: "`true`: the answer to the first request with this Idempotency-Key, sent again at no cost",
    schema: { type: "string", enum: ["true"] },
    ...ours,
  },
  "x-should-retry": {
    description: "Whether the same request may succeed later: official SDKs read it before the status",
    schema: { type: "string", enum: ["true", "false"] },
    ...ours,
  },
};

/** On every answer after acceptance. */
export const generationNames: string[] = Object.keys(generationHeaders({ generation: "", request: "" }));
/** On every answer that a provider served while the workspace has routing on. */
export const routeNames = ["x-route"];
/** On accepted answers in the form of another API, if there are any. */
export const ignoredNames = ["x-ignored-fields"];
/** On every answer to a POST that reached the check of requests per minute. */
export const windowNames: string[] = Object.keys(windowHeaders({ limit: 0, remaining: 0, resetMs: 0 }));
/** On answers of Messages to an accepted request. */
export const messageNames = ["request-id", "x-ignored-fields"];
/** On every 429. */
export const retryNames: string[] = Object.keys(retryHeaders(0));

export function headerReferences(names: readonly string[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

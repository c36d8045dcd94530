/** The used parts of an OpenAPI 3.1.0 document (https://spec.openapis.org/oas/v3.1.0). */
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

/** The operation without a body and without ranges, for HEAD. */
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

/**
 * The operations as MCP tools, in both generations of the protocol (2025 with `initialize`, 2026-07-28 without): `structuredContent` is the
 * envelope, and a failure is a result with `isError`. It uses the SDK's low-level server, because the high-level one validates input
 * itself, with other error messages, and applies no defaults.
 */
import {
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type Tool,
} from "@modelcontextprotocol/server";
import { Type } from "@sinclair/typebox";
import { jsonSchema, type JsonSchema } from "../../http/json-schema.ts";
import type { Operation } from "../operation.ts";
import { Failure, successOf, type CallAnswer } from "./envelope.ts";
import { fullName, operations } from "./operations.ts";

interface ToolCall {
  operation: Operation;
  /** Not checked yet. */
  input: Record<string, unknown>;
  /** The request that carries it. */
  request: Request | undefined;
}

interface EndpointParts {
  /** The service's name. */
  slug: string;
  call(call: ToolCall): Promise<CallAnswer>;
  onError(error: Error): void;
}

export interface McpEndpoint {
  /** @param message the request's body, parsed */
  answer(request: Request, message: unknown): Promise<Response>;
}

export function mcpEndpoint({ slug, call, onError }: EndpointParts): McpEndpoint {
  const serverFor = (request: Request | undefined): Server =>
    mcpServer(slug, (operation, input) => call({ operation, input, request }));
  const handler = createMcpHandler(({ requestInfo }) => serverFor(requestInfo), { onerror: onError });
  return {
    answer: (request, message) => handler.fetch(request, { parsedBody: message }),
  };
}

/** Calls an operation with input that has not been checked. */
export type CallTool = (operation: Operation, input: Record<string, unknown>) => Promise<CallAnswer>;

const instructions =
  "Security findings of the workspace that the key belongs to. Lists work on the active scope and page by limit and offset: " +
  "look at total and has_more before you conclude that there is nothing else, and continue at next_offset if a page has it.";

/** @param slug the service's name */
export function mcpServer(slug: string, call: CallTool): Server {
  const options = { capabilities: { tools: {} }, instructions, cacheHints: { "tools/list": { ttlMs: 300_000 } } } as const;
  const server = new Server({ name: "weir", title: "Weir", version: "1.0" }, options);
  server.setRequestHandler("tools/list", async () => ({ tools: operations.map((one) => describe(slug, one)) }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const operation = operations.find((one) => fullName(slug, one) === params.name);
    if (!operation) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}`);
    return resultOf(await call(operation, params.arguments ?? {}));
  });
  return server;
}

function describe(slug: string, operation: Operation): Tool {
  const { title, description, annotations, input } = operation;
  return {
    name: fullName(slug, operation),
    title,
    description,
    inputSchema: rooted({ ...withoutAnyOf(jsonSchema(input, new Map())), additionalProperties: false }),
    outputSchema: rooted(answerSchema(operation)),
    annotations: { title, ...annotations },
  };
}

/**
 * Writes branches of different types as one list of types, which means the same, because each of their other keywords concerns one type.
 * Some clients refuse every tool of a list in which one has `anyOf`.
 */
function withoutAnyOf({ anyOf, properties, items, ...rest }: JsonSchema): JsonSchema {
  const within = {
    ...(isSchema(items) && { items: withoutAnyOf(items) }),
    ...(isSchema(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [name, isSchema(one) ? withoutAnyOf(one) : one]),
      ),
    }),
  };
  if (!Array.isArray(anyOf)) return { ...rest, ...within };
  const branches = anyOf.filter(isSchema).map(withoutAnyOf);
  return { ...Object.assign({}, ...branches), ...rest, ...within, type: branches.flatMap(({ type }) => type) };
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Both schemas describe objects. */
function rooted(schema: Record<string, unknown>): Tool["inputSchema"] & NonNullable<Tool["outputSchema"]> {
  return schema as Tool["inputSchema"] & NonNullable<Tool["outputSchema"]>;
}

/** Clients validate failures against it too, so it accepts both envelopes. Older clients need an object at its root. */
function answerSchema({ data }: Operation): Record<string, unknown> {
  const { anyOf } = jsonSchema(Type.Union([successOf(data), Failure]), new Map());
  const properties = { success: { type: "boolean", description: "Whether the call succeeded" } };
  return { type: "object", properties, required: ["success"], anyOf };
}

/** For clients without structured content. */
function resultOf({ status, body }: CallAnswer): CallToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(body) }],
    structuredContent: { ...body },
    ...(status !== 200 && { isError: true }),
  };
}

/**
 * The operations below /api/tools, made from the list of operations, with the paths for attachments and MCP. Every operation has the
 * same refusals.
 */
import { jsonSchema, schemaOrReference, type JsonSchema, type Names } from "../http/json-schema.ts";
import type { Operation as ToolsOperation } from "../security/operation.ts";
import {
  attachmentHeader,
  attachmentNameHeader,
  attachmentsPath,
  mcpPath,
  toolsPrefix,
  fullName,
  operations,
} from "../security/api/operations.ts";
import { successOf } from "../security/api/envelope.ts";
import {
  headerReferences,
  jsonContent,
  type ResponseDescription,
  type Operation,
  type Parameter,
  type Paths,
} from "./operation.ts";

const shared = { tags: ["tools"], security: [{ ApiKeyAuth: [] }] };

export function toolsPaths(slug: string, names: Names): Paths {
  const described = operations.map((one) => [`${toolsPrefix}/${fullName(slug, one)}`, { post: operation(slug, one, names) }]);
  return { ...Object.fromEntries(described), [attachmentsPath]: { post: attachments }, [mcpPath]: { post: mcp } };
}

const kept = {
  type: "object",
  required: ["success", "data", "message"],
  properties: {
    success: { type: "boolean", const: true, description: "It is kept" },
    data: {
      type: "object",
      description: "The file",
      required: ["id", "name", "size"],
      properties: {
        id: { type: "string", description: `For the header ${attachmentHeader} of the following call` },
        name: { type: "string", description: "Name of the file" },
        size: { type: "integer", description: "Its size in bytes" },
      },
    },
    message: { type: "string", description: "What was done, as a sentence for people" },
  },
};

const attachments: Operation = {
  ...shared,
  operationId: "keepAttachment",
  summary: "Keep a file of at most 50 MiB for the following ticket",
  description: "Served if the whole service is one process on a loopback address; 404 otherwise",
  parameters: [
    {
      name: attachmentNameHeader,
      in: "header",
      required: true,
      description: "Name of the file, percent-encoded, without folders",
      schema: { type: "string" },
    },
  ],
  requestBody: { required: true, content: { "application/octet-stream": { schema: {} } } },
  responses: answers(kept),
  "x-addition": true,
};

const message = { type: "object", description: "A JSON-RPC 2.0 message" };

const mcp: Operation = {
  ...shared,
  operationId: "mcp",
  summary: "The same operations as tools of the Model Context Protocol",
  description: "Streamable HTTP without sessions, in the revisions 2025-11-25 and 2026-07-28. A foreign `Origin` is refused",
  requestBody: { required: true, content: jsonContent(message) },
  responses: {
    ...answers(message),
    "200": {
      description: "An answer, whole or as an event",
      content: { ...jsonContent(message), "text/event-stream": { schema: message } },
    },
    "403": { description: "The header `Origin` names another site" },
    "429": { description: "The key has called too often: an error of JSON-RPC", headers: headerReferences(["retry-after"]) },
  },
  "x-addition": true,
};

const attachmentParameter: Parameter = {
  name: attachmentHeader,
  in: "header",
  required: false,
  description: `Id of a file that was sent to ${attachmentsPath}; an MCP server on the same machine sends it instead of attachment_path`,
  schema: { type: "string" },
};

function operation(slug: string, described: ToolsOperation, names: Names): Operation {
  const { title, description, input, data, addition } = described;
  const body = { ...jsonSchema(input, names), additionalProperties: false };
  const { properties = {}, ...envelope } = jsonSchema(successOf(data), new Map());
  const named = { ...Object(properties), data: schemaOrReference(data, names) };
  return {
    ...shared,
    operationId: fullName(slug, described),
    summary: title,
    description,
    ...("attachment_path" in input.properties && { parameters: [attachmentParameter] }),
    requestBody: { required: true, content: jsonContent(body) },
    responses: answers({ ...envelope, properties: named }),
    ...(addition && { "x-addition": true }),
  };
}

function answers(success: JsonSchema): Record<string, ResponseDescription> {
  const failure = jsonContent({ $ref: "#/components/schemas/ToolsFailure" });
  const headers = headerReferences(["x-request-id"]);
  return {
    "200": { description: "It was done", headers, content: jsonContent(success) },
    "400": { description: "The call must be changed; `error` explains how", headers, content: failure },
    "401": {
      description: "The key is missing or invalid; `error` is `Unauthorized`, whatever the reason",
      headers,
      content: failure,
    },
    "429": {
      description: "The key or its workspace has reached a limit; `error` names it",
      headers: { ...headers, ...headerReferences(["retry-after"]) },
      content: failure,
      "x-addition": true,
    },
    "500": { description: "A fault of the service or its database", headers, content: failure },
    "503": {
      description: "All callers together have reached a limit, or the disk is nearly full; `error` names it",
      headers: { ...headers, ...headerReferences(["retry-after"]) },
      content: failure,
      "x-addition": true,
    },
  };
}

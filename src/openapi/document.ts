/**
 * The OpenAPI document of all paths of a gateway, made from the schemas and tables that its routes use. A test calls every operation and
 * compares. `x-addition` marks what the service's specification lacks.
 */
import type { TSchema } from "@sinclair/typebox";
import { AuditView } from "../accounts/audit/list.ts";
import { ConnectorChange } from "../connectors/catalog/changes.ts";
import { ConnectorExport, ConnectorList } from "../connectors/catalog/documents.ts";
import { RefusalBody } from "../connectors/catalog/refusal.ts";
import { ConnectorRow } from "../connectors/catalog/row.ts";
import { CreditView } from "../gateway/credit/credit.ts";
import { GenerationView } from "../gateway/generations/schema.ts";
import { EmbeddingBody } from "../gateway/api/answer/embedding-answer.ts";
import { CompletionBody } from "../gateway/api/answer/answer.ts";
import { TextCompletionBody, ChunkBody, TextChunkBody } from "../gateway/api/answer/answer-format.ts";
import { MessageBody, MessageEvent } from "../gateway/api/messages/answer.ts";
import { MessageError } from "../gateway/api/messages/errors.ts";
import { OutputItem, ResponseBody } from "../gateway/api/responses/answer.ts";
import { ResponseEvents } from "../gateway/api/responses/events.ts";
import { InputTokensBody, TokenCountBody } from "../gateway/api/count-tokens.ts";
import { GenerationBody, KeyBody } from "../gateway/api/describe.ts";
import { UsageView } from "../gateway/usage/schema.ts";
import { ModelForBoth, ModelListBody } from "../gateway/api/models.ts";
import { KeyView, NewKeyView } from "../accounts/keys/schema.ts";
import { Verification } from "../gateway/metering/verify.ts";
import { ScopeView } from "../security/projects/active-scope.ts";
import { Confirmation, TicketRow } from "../security/tickets/schema.ts";
import { Failure } from "../security/api/envelope.ts";
import { AccountView, MemberView, WorkspaceView } from "../accounts/workspaces/schema.ts";
import { chatRequestSchema, completionRequestSchema, embeddingRequestSchema, inferencePaths } from "./inference-operations.ts";
import { messageRequestSchema, responseRequestSchema, tokenCountRequestSchema } from "./agent-operations.ts";
import { connectorPaths } from "./connector-operations.ts";
import { actAs, controlPaths, controlRefusals } from "./control-operations.ts";
import { headers, type Paths } from "./operation.ts";
import { jsonSchema, type JsonSchema } from "../http/json-schema.ts";
import { pagePaths, servicePaths } from "./service-operations.ts";
import { keyPrefix } from "../kernel/ids.ts";
import { toolsPaths } from "./tools-operations.ts";

/** The schemas that the document refers to by name. */
const namedSchemas: [string, TSchema][] = [
  ["ChatCompletion", CompletionBody],
  ["ChatCompletionChunk", ChunkBody],
  ["Embeddings", EmbeddingBody],
  ["Completion", TextCompletionBody],
  ["CompletionChunk", TextChunkBody],
  ["Message", MessageBody],
  ["MessageEvent", MessageEvent],
  ["MessageError", MessageError],
  ["Response", ResponseBody],
  ["ResponseItem", OutputItem],
  ["ResponseEvent", ResponseEvents],
  ["TokenCount", TokenCountBody],
  ["InputTokens", InputTokensBody],
  ["Model", ModelForBoth],
  ["ModelList", ModelListBody],
  ["Key", KeyBody],
  ["Usage", UsageView],
  ["Generation", GenerationBody],
  ["ToolsFailure", Failure],
  ["Ticket", TicketRow],
  ["TicketConfirmation", Confirmation],
  ["ActiveScope", ScopeView],
  ["Connector", ConnectorRow],
  ["ConnectorList", ConnectorList],
  ["ConnectorChange", ConnectorChange],
  ["ConnectorExport", ConnectorExport],
  ["ConnectorRefusal", RefusalBody],
  ["ControlWorkspace", WorkspaceView],
  ["ControlMember", MemberView],
  ["ControlAccount", AccountView],
  ["ControlKey", KeyView],
  ["ControlNewKey", NewKeyView],
  ["ControlCredit", CreditView],
  ["ControlGeneration", GenerationView],
  ["ControlAudit", AuditView],
  ["ControlVerification", Verification],
];
const names: ReadonlyMap<TSchema, string> = new Map(namedSchemas.map(([name, schema]) => [schema, name]));

const description = `A metered inference gateway: chat completions, Responses and Messages in front of many model providers.

Unknown paths answer 404 with \`{"detail":"Not Found"}\`, wrong methods below /gpt/v1 405 with
\`{"detail":"Method Not Allowed"}\`, both below /api/tools with \`{"success":false,"error":…}\`. Times are ISO 8601 in UTC. \`x-addition\` marks what the
specification of the service does not have.`;

export interface OpenApiDocument {
  openapi: "3.1.0";
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Paths;
  components: Record<string, Record<string, unknown>> & { schemas: Record<string, JsonSchema> };
}

/** @param slug the service's name, the beginning of keys and operations */
export function openApiDocument({ slug }: { slug: string }): OpenApiDocument {
  const prefix = keyPrefix(slug);
  const schemas = Object.fromEntries(namedSchemas.map(([name, schema]) => [name, jsonSchema(schema, names)]));
  return {
    openapi: "3.1.0",
    info: { title: "Weir", version: "1.0", description },
    servers: [{ url: "/" }],
    tags: [
      { name: "inference", description: "For applications, with an API key" },
      { name: "tools", description: "For people and agents, with a tools key; over MCP as well" },
      { name: "connectors", description: "The connector catalog for batch jobs and pages, without a key" },
      { name: "service", description: "For monitoring the process, and pages for people" },
      { name: "control-accounts", description: "For operators and members: workspaces, members, keys and sign-ins" },
      {
        name: "control-inference",
        description: "For operators and members: credit, the log, usage, models and own provider keys",
      },
      {
        name: "control-security",
        description: "For operators and members: SBOMs, projects, findings, advisories and connections",
      },
    ],
    paths: {
      ...inferencePaths(prefix),
      ...servicePaths(),
      ...pagePaths,
      ...toolsPaths(slug, names),
      ...connectorPaths(names),
      ...controlPaths(names, prefix),
    },
    components: {
      schemas: {
        ChatRequest: chatRequestSchema(),
        CompletionRequest: completionRequestSchema(),
        EmbeddingRequest: embeddingRequestSchema(),
        MessageRequest: messageRequestSchema(),
        ResponseRequest: responseRequestSchema(),
        TokenCountRequest: tokenCountRequestSchema(),
        ...schemas,
      },
      responses: controlRefusals(),
      headers,
      parameters: { ActAs: actAs },
      securitySchemes: {
        apiKey: bearer(`An API key: \`${prefix}\` and 64 lower-case hexadecimal digits`),
        apiKeyHeader: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description: "The same key, for clients of Messages",
          "x-addition": true,
        },
        // The specification's name. The key may follow `Bearer` or `ApiKey`.
        ApiKeyAuth: { type: "apiKey", in: "header", name: "Authorization", description: toolsKeyDescription(slug) },
        operatorToken: { ...bearer("The operator token; API keys are not accepted"), "x-addition": true },
      },
    },
  };
}

function bearer(description: string): Record<string, unknown> {
  return { type: "http", scheme: "bearer", description };
}

function toolsKeyDescription(slug: string): string {
  return `A tools key: \`${keyPrefix(slug, "tools")}\` and 64 lower-case hexadecimal digits, bare or after \`Bearer\``;
}

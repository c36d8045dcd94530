/**
 * The operations of Messages and Responses, the APIs that agents speak. Their requests are made from the tables that check them. Each API
 * has its own form of answers and errors.
 */
import { turnsSchema } from "../gateway/api/messages/blocks.ts";
import { messageErrorBody } from "../gateway/api/messages/errors.ts";
import { messagesFields } from "../gateway/api/messages/request.ts";
import { itemsSchema } from "../gateway/api/responses/items.ts";
import { responsesFields } from "../gateway/api/responses/request.ts";
import { inferencePrefix } from "../gateway/api/routes.ts";
import type { JsonSchema } from "../http/json-schema.ts";
import { errorTable, type ErrorCode } from "../kernel/errors.ts";
import {
  allCodes,
  completes,
  idempotencyKey,
  errorAnswers,
  errorSchema,
  keyCodes,
  reference,
  requestSchema,
  type AnswerForm,
  type PromptOperation,
} from "./inference-parts.ts";
import {
  generationNames,
  headerReferences,
  ignoredNames,
  jsonContent,
  messageNames,
  routeNames,
  windowNames,
  type Operation,
  type Paths,
} from "./operation.ts";

/** Messages is below both addresses that its clients have. */
export function agentPaths(keyPrefix: string): Paths {
  const asked = { tags: ["inference"], security: [{ apiKey: [] }], "x-addition": true as const };
  const shared = { tags: ["inference"], security: [{ apiKey: [] }, { apiKeyHeader: [] }], "x-addition": true as const };
  return {
    [`${inferencePrefix}/responses`]: { post: { ...asked, ...responds(keyPrefix) } },
    [`${inferencePrefix}/responses/input_tokens`]: { post: { ...asked, ...tokenCount(responseCount, keyPrefix) } },
    [`${inferencePrefix}/messages`]: { post: { ...shared, ...completes(message, keyPrefix) } },
    [`${inferencePrefix}/v1/messages`]: { post: { ...shared, ...completes(sameMessage, keyPrefix) } },
    [`${inferencePrefix}/messages/count_tokens`]: { post: { ...shared, ...tokenCount(messageCount, keyPrefix) } },
    [`${inferencePrefix}/v1/messages/count_tokens`]: { post: { ...shared, ...tokenCount(sameMessageCount, keyPrefix) } },
  };
}

/** The body of a request to Messages. */
export function messageRequestSchema(): JsonSchema {
  return requestSchema({ messages: turnsSchema }, messagesFields);
}

/** The body of a request to count its prompt, which need not bound an answer. */
export function tokenCountRequestSchema(): JsonSchema {
  const table = messagesFields.map((field) => (field.name === "max_tokens" ? { ...field, required: false } : field));
  return requestSchema({ messages: turnsSchema }, table);
}

/** The body of a request for a response. */
export function responseRequestSchema(): JsonSchema {
  return requestSchema({ input: itemsSchema }, responsesFields);
}

const messageForm: AnswerForm = {
  description:
    "The message, whole or as server-sent events: each has the name of its type and a line `data: ` with an event. The last is " +
    "`message_stop` or, if the provider fails, `error`. A `ping` keeps a quiet stream open.",
  headers: messageNames,
  error: "MessageError",
  errorBody: (error) => ({ ...messageErrorBody(error), request_id: null }),
};

const message: PromptOperation = {
  operationId: "createMessage",
  summary: "Answer in the format of Messages",
  description:
    "For clients and agents of Anthropic's API, on every chat model. Hints that a model does not take are left out and named in " +
    "`x-ignored-fields`. ",
  request: "MessageRequest",
  whole: "Message",
  chunk: "MessageEvent",
  form: messageForm,
};

const sameMessage: PromptOperation = {
  ...message,
  operationId: "createMessageTwice",
  summary: "The same, for clients that append the version to an address that has it",
};

interface CountOperation {
  operationId: string;
  /** The name of the API. */
  api: string;
  /** Names of the schemas. */
  request: string;
  answer: string;
  /** As of `PromptOperation`. */
  form?: AnswerForm;
}

const messageCount: CountOperation = {
  operationId: "countMessageTokens",
  api: "Messages",
  request: "TokenCountRequest",
  answer: "TokenCount",
  form: messageForm,
};

const sameMessageCount: CountOperation = { ...messageCount, operationId: "countMessageTokensTwice" };

const responseCount: CountOperation = {
  operationId: "countInputTokens",
  api: "Responses",
  request: "ResponseRequest",
  answer: "InputTokens",
};

function tokenCount(operation: CountOperation, keyPrefix: string): Omit<Operation, "tags" | "security"> {
  const { operationId, api, request, answer, form } = operation;
  const codes: ErrorCode[] = [...keyCodes, "invalid_request", "unsupported_parameter", "model_not_found", "request_too_large"];
  const later: ErrorCode[] = ["rate_limited", "model_unavailable", "billing_unavailable"];
  return {
    operationId,
    summary: `Count the tokens of a request to ${api}`,
    description: "Costs nothing and does not count as a request. The provider counts if its API can, else the gateway estimates.",
    requestBody: { required: true, content: jsonContent(reference(request)) },
    responses: {
      "200": {
        description: "The count",
        headers: headerReferences(["x-token-count"]),
        content: jsonContent(reference(answer)),
      },
      ...errorAnswers([...codes, ...later], { keyPrefix, counted: false, form }),
    },
  };
}

/** Agents of this API act on a code that is not in the error table. */
function responds(keyPrefix: string): Omit<Operation, "tags" | "security"> {
  const errors = errorAnswers(allCodes, { keyPrefix, counted: true });
  const tooLong = "context_length_exceeded";
  const refused = allCodes.filter((code) => errorTable[code].status === 400);
  const { description = "", content, ...refusal } = errors["400"] ?? {};
  return {
    operationId: "createResponse",
    "x-addition": true,
    summary: "Answer with items",
    description:
      "The Responses API. Nothing is kept between requests: send the whole conversation. Hints that the model does not have are left out, " +
      "and `X-Ignored-Fields` lists them. Reserved and charged like a chat. The body is at most 8 MiB of JSON, not compressed.",
    parameters: [idempotencyKey],
    requestBody: { required: true, content: jsonContent(reference("ResponseRequest")) },
    responses: {
      "200": {
        description:
          "The answer, whole or as server-sent events, of which `response.completed`, `response.incomplete` or `response.failed` is the " +
          "last. Lines that begin with a colon keep a quiet stream open.",
        headers: headerReferences([...generationNames, ...routeNames, ...windowNames, "idempotent-replayed", ...ignoredNames]),
        content: { ...jsonContent(reference("Response")), "text/event-stream": { schema: reference("ResponseEvent") } },
      },
      ...errors,
      "400": {
        ...refusal,
        description: `${description}. \`${tooLong}\`: The prompt and its answer do not fit into the model's context`,
        content: { "application/json": { ...content?.["application/json"], schema: errorSchema(refused, undefined, [tooLong]) } },
      },
    },
  };
}

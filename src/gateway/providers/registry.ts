/**
 * The wire formats, each put together from the functions of its folder, and the table of them with their transports. A new format is a
 * folder here and one line in the table. The formats are above the table because it is built when the module loads.
 */
import type { Clock } from "../../kernel/clock.ts";
import type { WireFormatName } from "../models/model.ts";
import { decodeAnthropicAnswer } from "./anthropic/answer.ts";
import { anthropicClientField, anthropicUnsupportedField } from "./anthropic/client-fields.ts";
import { anthropicCount } from "./anthropic/count.ts";
import { classifyAnthropicError } from "./anthropic/errors.ts";
import { anthropicAddedBytes, encodeAnthropicRequest } from "./anthropic/request.ts";
import { anthropicStreamDecoder } from "./anthropic/stream.ts";
import { decodeGoogleAnswer } from "./google/answer.ts";
import { googleClientField, googleUnsupportedField } from "./google/client-fields.ts";
import { classifyGoogleError } from "./google/errors.ts";
import { encodeGoogleRequest, googleAddedBytes } from "./google/request.ts";
import { googleStreamDecoder } from "./google/stream.ts";
import { decodeResponsesAnswer } from "./openai-responses/answer.ts";
import { responsesClientField, responsesUnsupportedField } from "./openai-responses/client-fields.ts";
import { classifyResponsesError } from "./openai-responses/errors.ts";
import { encodeResponsesRequest, responsesAddedBytes } from "./openai-responses/request.ts";
import { responsesStreamDecoder } from "./openai-responses/stream.ts";
import { decodeOpenaiAnswer } from "./openai/answer.ts";
import { classifyOpenaiError } from "./openai/errors.ts";
import { openaiAddedBytes, openaiClientField, encodeOpenaiRequest } from "./openai/request.ts";
import { openaiStreamDecoder } from "./openai/stream.ts";
import type { WireFormat } from "./provider.ts";
import { sandboxUnsupportedField } from "./sandbox/answer.ts";
import { sandboxOf } from "./sandbox/transport.ts";
import { networkOf } from "./transport/network.ts";
import type { Transport } from "./transport/transport.ts";

/** Chat completions, spoken by OpenAI, Azure and compatible providers. */
export const openai: WireFormat = {
  addedBytes: openaiAddedBytes,
  encode: encodeOpenaiRequest,
  clientField: openaiClientField,
  authorization: (key) => ({ authorization: `Bearer ${key}` }),
  decodeAnswer: decodeOpenaiAnswer,
  streamDecoder: openaiStreamDecoder,
  classify: classifyOpenaiError,
};

/**
 * The wire format of OpenAI's Responses API (https://developers.openai.com/api/reference/resources/responses), needed for models that
 * refuse tools with reasoning in chat completions. Nothing is stored at the provider: each request has the whole conversation.
 */
export const responses: WireFormat = {
  unsupportedField: responsesUnsupportedField,
  outputTokensMin: 16,
  addedBytes: responsesAddedBytes,
  encode: encodeResponsesRequest,
  clientField: responsesClientField,
  authorization: (key) => ({ authorization: `Bearer ${key}` }),
  decodeAnswer: decodeResponsesAnswer,
  streamDecoder: responsesStreamDecoder,
  classify: classifyResponsesError,
};

/**
 * The wire format of Anthropic's Messages API and of its compatible providers
 * (https://platform.claude.com/docs/en/api/messages).
 */
export const anthropic: WireFormat = {
  unsupportedField: anthropicUnsupportedField,
  addedBytes: anthropicAddedBytes,
  encode: encodeAnthropicRequest,
  clientField: anthropicClientField,
  authorization: (key) => ({ "x-api-key": key }),
  decodeAnswer: decodeAnthropicAnswer,
  streamDecoder: anthropicStreamDecoder,
  classify: classifyAnthropicError,
  count: anthropicCount,
};

/**
 * The wire format of the Gemini API's generateContent and of its compatible providers
 * (https://ai.google.dev/api/generate-content).
 */
export const google: WireFormat = {
  unsupportedField: googleUnsupportedField,
  addedBytes: googleAddedBytes,
  encode: encodeGoogleRequest,
  clientField: googleClientField,
  authorization: (key) => ({ "x-goog-api-key": key }),
  decodeAnswer: decodeGoogleAnswer,
  streamDecoder: googleStreamDecoder,
  classify: classifyGoogleError,
};

interface WireFormatEntry {
  format: WireFormat;
  transport: (clock: Clock) => Transport;
}

export const wireFormats: Record<WireFormatName, WireFormatEntry> = {
  openai: { format: openai, transport: networkOf },
  "openai-responses": { format: responses, transport: networkOf },
  anthropic: { format: anthropic, transport: networkOf },
  google: { format: google, transport: networkOf },
  sandbox: { format: { ...openai, unsupportedField: sandboxUnsupportedField }, transport: sandboxOf },
};

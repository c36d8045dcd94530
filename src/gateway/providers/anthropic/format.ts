/**
 * The wire format of Anthropic's Messages API and of its compatible providers
 * (https://platform.claude.com/docs/en/api/messages).
 */
import type { WireFormat } from "../provider.ts";
import { decodeAnthropicAnswer } from "./answer.ts";
import { anthropicClientField } from "./client-field.ts";
import { classifyAnthropicError } from "./errors.ts";
import { anthropicAddedBytes, encodeAnthropicRequest } from "./request.ts";
import { anthropicStreamDecoder } from "./stream.ts";
import { anthropicUnsupportedField } from "./unsupported-fields.ts";

export const anthropic: WireFormat = {
  unsupportedField: anthropicUnsupportedField,
  addedBytes: anthropicAddedBytes,
  encode: encodeAnthropicRequest,
  clientField: anthropicClientField,
  authorization: (key) => ({ "x-api-key": key }),
  decodeAnswer: decodeAnthropicAnswer,
  streamDecoder: anthropicStreamDecoder,
  classify: classifyAnthropicError,
};

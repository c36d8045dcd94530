/**
 * The wire format of OpenAI's Responses API (https://developers.openai.com/api/reference/resources/responses), for models that
 * refuse tools with reasoning in chat completions. Nothing is stored at the provider: each request has the whole conversation.
 */
import type { WireFormat } from "../provider.ts";
import { decodeResponsesAnswer } from "./answer.ts";
import { responsesClientField } from "./client-field.ts";
import { classifyResponsesError } from "./errors.ts";
import { encodeResponsesRequest, responsesAddedBytes } from "./request.ts";
import { responsesStreamDecoder } from "./stream.ts";
import { responsesUnsupportedField } from "./unsupported-fields.ts";

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

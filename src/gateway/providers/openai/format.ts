/** The wire format of chat completions, spoken by OpenAI, Azure and compatible providers. */
import type { WireFormat } from "../provider.ts";
import { decodeOpenaiAnswer } from "./answer.ts";
import { openaiClientField } from "./client-field.ts";
import { classifyOpenaiError } from "./errors.ts";
import { encodeOpenaiRequest } from "./request.ts";
import { openaiStreamDecoder } from "./stream.ts";

export const openai: WireFormat = {
  encode: encodeOpenaiRequest,
  clientField: openaiClientField,
  authorization: (key) => ({ authorization: `Bearer ${key}` }),
  decodeAnswer: decodeOpenaiAnswer,
  streamDecoder: openaiStreamDecoder,
  classify: classifyOpenaiError,
};

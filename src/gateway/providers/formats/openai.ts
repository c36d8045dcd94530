/** Chat completions as OpenAI, Azure and the many who follow them speak it. */
import type { WireFormat } from "../provider.ts";
import { decodeOpenaiAnswer } from "./openai-answer.ts";
import { classifyOpenaiError } from "./openai-errors.ts";
import { encodeOpenaiRequest } from "./openai-request.ts";
import { openaiStreamDecoder } from "./openai-stream.ts";

export const openai: WireFormat = {
  encode: encodeOpenaiRequest,
  authorization: (key) => ({ authorization: `Bearer ${key}` }),
  decodeAnswer: decodeOpenaiAnswer,
  streamDecoder: openaiStreamDecoder,
  classify: classifyOpenaiError,
};

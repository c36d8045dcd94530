/** The Messages API of Anthropic and of those who follow it (https://platform.claude.com/docs/en/api/messages). */
import type { WireFormat } from "../provider.ts";
import { decodeAnthropicAnswer } from "./anthropic-answer.ts";
import { classifyAnthropicError } from "./anthropic-errors.ts";
import { encodeAnthropicRequest } from "./anthropic-request.ts";
import { anthropicStreamDecoder } from "./anthropic-stream.ts";
import { uncarriedByAnthropic } from "./anthropic-uncarried.ts";

export const anthropic: WireFormat = {
  uncarried: uncarriedByAnthropic,
  encode: encodeAnthropicRequest,
  authorization: (key) => ({ "x-api-key": key }),
  decodeAnswer: decodeAnthropicAnswer,
  streamDecoder: anthropicStreamDecoder,
  classify: classifyAnthropicError,
};

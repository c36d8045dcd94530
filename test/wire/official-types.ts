/** The compiler checks that values which are valid by our schemas are assignable to the types of the official packages. */
import type Anthropic from "@anthropic-ai/sdk";
import type { Static } from "@sinclair/typebox";
import type OpenAI from "openai";
import type { CompletionBody } from "../../src/gateway/api/answer/answer.ts";
import type { TextCompletionBody } from "../../src/gateway/api/answer/answer-format.ts";
import type { TokenCountBody } from "../../src/gateway/api/count-tokens.ts";
import type { MessageBody, MessageEvent } from "../../src/gateway/api/messages/answer.ts";
import type { MessageError } from "../../src/gateway/api/messages/errors.ts";
import type { ModelForBoth, ModelListBody } from "../../src/gateway/api/models.ts";
import type { ResponseBody } from "../../src/gateway/api/responses/answer.ts";
import type { errorBody } from "../../src/kernel/errors.ts";
import type { Chunk, Completion, ErrorBody, OfficialModel, TextCompletion, UsageChunk } from "./schemas.ts";

export function officialCompletion(completion: Completion | CompletionBody): OpenAI.ChatCompletion {
  return completion;
}

export function officialChunk(chunk: Chunk | UsageChunk): OpenAI.ChatCompletionChunk {
  return chunk;
}

export function officialTextCompletion(completion: TextCompletion | TextCompletionBody): OpenAI.Completion {
  return completion;
}

export function officialError({ error }: ErrorBody | ReturnType<typeof errorBody>): OpenAI.ErrorObject {
  return error;
}

export function officialModel(model: OfficialModel | ModelListBody["data"][number]): OpenAI.Model {
  return model;
}

/** What the package's response has of ours, as far as its type is a type of ours. */
export function officialResponse(
  response: Pick<
    Static<typeof ResponseBody>,
    "id" | "object" | "created_at" | "completed_at" | "status" | "incomplete_details" | "output"
  >,
): Partial<OpenAI.Responses.Response> {
  return response;
}

export function officialMessage(message: Static<typeof MessageBody>): Anthropic.Message {
  return message;
}

/** The package skips `ping` and throws for `error` before it types an event. */
export function officialEvent(
  event: Exclude<Static<typeof MessageEvent>, { type: "ping" | "error" }>,
): Anthropic.RawMessageStreamEvent {
  return event;
}

type AnyMessageError = Static<typeof MessageError>["error"];

/** The package knows a body that is too large by its status alone. */
export function officialMessageError(
  error: Omit<AnyMessageError, "type"> & { type: Exclude<AnyMessageError["type"], "request_too_large"> },
): Anthropic.ErrorObject {
  return error;
}

export function officialModelInfo(model: ModelForBoth): Anthropic.ModelInfo {
  return model;
}

export function officialCount(count: Static<typeof TokenCountBody>): Anthropic.MessageTokensCount {
  return count;
}

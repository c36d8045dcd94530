/** The compiler checks that values which are valid by our transcription of the schema are assignable to the official package's types. */
import type OpenAI from "openai";
import type { CompletionBody } from "../../src/gateway/api/answer/answer.ts";
import type { TextCompletionBody } from "../../src/gateway/api/answer/answer-format.ts";
import type { ModelListBody } from "../../src/gateway/api/models.ts";
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

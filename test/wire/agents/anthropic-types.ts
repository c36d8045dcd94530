/** The compiler checks that values which are valid by our schemas are assignable to the types of Anthropic's official package. */
import type Anthropic from "@anthropic-ai/sdk";
import type { Static } from "@sinclair/typebox";
import type { TokenCountBody } from "../../../src/gateway/api/count-tokens.ts";
import type { MessageBody, MessageEvent } from "../../../src/gateway/api/messages/answer.ts";
import type { MessageError } from "../../../src/gateway/api/messages/errors.ts";
import type { ModelForBoth } from "../../../src/gateway/api/models.ts";

export function officialMessage(message: Static<typeof MessageBody>): Anthropic.Message {
  return message;
}

/** The package skips `ping` and throws for `error` before it types an event. */
export function officialMessageEvent(
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

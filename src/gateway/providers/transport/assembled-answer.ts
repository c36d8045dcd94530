/** Assembles a whole answer from a stream that came in its place. */
import { Buffer } from "node:buffer";
import type { ReportedUsage } from "../../models/model.ts";
import type { FinishReason, ProviderEvent, WholeAnswer } from "../provider.ts";
import { finalReason, strongerReason } from "../wire/finish-order.ts";
import { blank, joinPiece } from "../wire/join-pieces.ts";
import { asArray, asText } from "../wire/json.ts";
import { EventSequence } from "./event-sequence.ts";
import { EventParser } from "./sse.ts";

/** Whether a text begins like an event stream: with a comment or a field. JSON begins otherwise. */
export function beginsEvents(text: string): boolean {
  return /^\s*(data|event|id|retry)?:/.test(text);
}

/** How much is decoded before other calls have their turn. */
const bytesATurn = 256 * 1024;

/**
 * Other calls have their turns while it decodes.
 * @param text the whole body
 * @param decode a new decoder
 * @throws UpstreamFailure when the stream fails or breaks off
 */
export async function assembledAnswer(text: string, decode: (data: string) => ProviderEvent[]): Promise<WholeAnswer> {
  const message = blank();
  const logprobs = blank();
  let reason: FinishReason | null = null;
  let usage: ReportedUsage | null = null;
  let isWhole = false;
  for await (const events of eventsIn(text, decode)) {
    for (const event of events) {
      // An answer that is finished is whole, as it is in a stream, unless a call goes on behind its finish reason.
      if (event.kind === "failure" && !isWhole) throw event.failure;
      if (event.kind === "usage") usage = event.usage;
      if (event.kind !== "delta") continue;
      joinPiece(message, event.delta);
      joinPiece(logprobs, { logprobs: event.logprobs });
      if (event.finishReason !== null) reason = strongerReason(reason, event.finishReason);
      isWhole = event.finishReason !== null || (isWhole && !("tool_calls" in event.delta || "function_call" in event.delta));
    }
  }
  const { role: _role, content, ...fields } = message;
  const calledTools = asArray(fields["tool_calls"]).length > 0;
  return {
    message: { refusal: null, ...fields, role: "assistant", content: asText(content) || (calledTools ? null : "") },
    finishReason: finalReason(reason, calledTools),
    logprobs: logprobs["logprobs"] ?? null,
    usage,
  };
}

/** The events of one turn after those of another. */
async function* eventsIn(text: string, decode: (data: string) => ProviderEvent[]): AsyncGenerator<ProviderEvent[]> {
  const bytes = Buffer.from(text);
  const parser = new EventParser(bytes.length + 1);
  const sequence = new EventSequence(decode);
  for (let at = 0; at < bytes.length; at += bytesATurn) {
    const events: ProviderEvent[] = [];
    const isOver = parser.feed(bytes.subarray(at, at + bytesATurn)).some((data) => sequence.take(data, events));
    yield events;
    if (isOver) return;
    if (at + bytesATurn < bytes.length) await new Promise((resolve) => void setImmediate(resolve));
  }
  const events: ProviderEvent[] = [];
  if (!parser.end().some((data) => sequence.take(data, events))) sequence.end(events);
  yield events;
}

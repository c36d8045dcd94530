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

/**
 * @param text the whole body
 * @param decode a new decoder
 * @throws UpstreamFailure when the stream fails or breaks off
 */
export function assembledAnswer(text: string, decode: (data: string) => ProviderEvent[]): WholeAnswer {
  const message = blank();
  const logprobs = blank();
  let reason: FinishReason | null = null;
  let usage: ReportedUsage | null = null;
  for (const event of eventsIn(text, decode)) {
    // An answer that is finished is whole, as it is in a stream.
    if (event.kind === "failure" && reason === null) throw event.failure;
    if (event.kind === "usage") usage = event.usage;
    if (event.kind !== "delta") continue;
    joinPiece(message, event.delta);
    joinPiece(logprobs, { logprobs: event.logprobs });
    if (event.finishReason !== null) reason = strongerReason(reason, event.finishReason);
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

function eventsIn(text: string, decode: (data: string) => ProviderEvent[]): ProviderEvent[] {
  const bytes = Buffer.from(text);
  const parser = new EventParser(bytes.length + 1);
  const sequence = new EventSequence(decode);
  const events: ProviderEvent[] = [];
  for (const data of [...parser.feed(bytes), ...parser.end()]) if (sequence.take(data, events)) return events;
  sequence.end(events);
  return events;
}

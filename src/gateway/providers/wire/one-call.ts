/**
 * `parallel_tool_calls: false`: an answer calls at most one tool. Google has no field for it, and others ignore theirs, so the
 * gateway enforces it: a client receives only the first call. After its result the model can make the next one.
 */
import { asArray, asObject, isEmpty } from "./json.ts";
import type { WholeAnswer, ChatBody, ProviderEvent, WireFormat } from "../provider.ts";

/** Returns the format unchanged if the client accepts several calls at once, which is the default. */
export function withParallelToolCallsOff(format: WireFormat, chat: ChatBody): WireFormat {
  if (chat["parallel_tool_calls"] !== false) return format;
  return {
    ...format,
    decodeAnswer: (body) => onlyFirstCall(format.decodeAnswer(body)),
    streamDecoder() {
      const decode = format.streamDecoder();
      return (data) => decode(data).flatMap(onlyFirstCallEvent);
    },
  };
}

function onlyFirstCall(answer: WholeAnswer): WholeAnswer {
  const calls = asArray(answer.message["tool_calls"]);
  return calls.length <= 1 ? answer : { ...answer, message: { ...answer.message, tool_calls: calls.slice(0, 1) } };
}

/** Returns none if the event only contains another call. */
function onlyFirstCallEvent(event: ProviderEvent): ProviderEvent[] {
  if (event.kind !== "delta" || !("tool_calls" in event.delta)) return [event];
  const { tool_calls: toolCalls, ...rest } = event.delta;
  const pieces = asArray(toolCalls).filter((piece) => asObject(piece)?.["index"] === 0);
  const delta = pieces.length === 0 ? rest : { ...rest, tool_calls: pieces };
  return isEmpty(delta) && event.finishReason === null && event.logprobs === undefined ? [] : [{ ...event, delta }];
}

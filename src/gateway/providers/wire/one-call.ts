/**
 * `parallel_tool_calls: false`: an answer calls one tool at most. Google has no word for it, and others pass over theirs, so the
 * promise is kept here: a client gets the first call alone. With its result the model can make the next one.
 */
import { asArray, asObject, isEmpty } from "./json.ts";
import type { WholeAnswer, ChatBody, ProviderEvent, WireFormat } from "../provider.ts";

/** The format as it is where the client takes several calls at once, as it does unless it says otherwise. */
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

/** None where the event told of another call and of nothing else. */
function onlyFirstCallEvent(event: ProviderEvent): ProviderEvent[] {
  if (event.kind !== "delta" || !("tool_calls" in event.delta)) return [event];
  const { tool_calls: told, ...rest } = event.delta;
  const pieces = asArray(told).filter((piece) => asObject(piece)?.["index"] === 0);
  const delta = pieces.length === 0 ? rest : { ...rest, tool_calls: pieces };
  return isEmpty(delta) && event.finishReason === null && event.logprobs === undefined ? [] : [{ ...event, delta }];
}

/** Traffic that puts canaries wherever they could go: success, streams, retries, disconnects, every error. */
import { send, type Canaries, type Place, type SentTraffic } from "./canaries.ts";
import { failAll } from "./canary-failures.ts";
import { refuseAll } from "./canary-refusals.ts";
import { chunk, chat, completion, error, json, ManualStream, stream, type StubAnswer } from "../providers/stub-answers.ts";

/** Sends every kind of request, one after another. */
export async function spreadCanaries(canaries: Canaries, place: Place): Promise<SentTraffic> {
  const sent: SentTraffic = { answered: [], failed: [], errors: "" };
  await answerAll(canaries, place, sent);
  await leaveOne(canaries, place);
  await failAll(canaries, place, sent);
  await refuseAll(canaries, place, sent);
  return sent;
}

async function answerAll(canaries: Canaries, place: Place, sent: SentTraffic): Promise<void> {
  const { answer } = canaries;
  const call = { id: "call_2", type: "function", function: { name: "look", arguments: JSON.stringify({ found: answer }) } };
  const asCall = completion({ role: "assistant", content: null, refusal: null, tool_calls: [call] }, "tool_calls");
  const asCallStream = stream([chunk({ role: "assistant", tool_calls: [{ index: 0, ...call }] }), chunk({}, "tool_calls")]);
  const failing = error(500, null, canaries.providerError);
  const answers: [given: StubAnswer, streamed: boolean, before?: StubAnswer[]][] = [
    [chat(`Here: ${answer}`), false],
    [chat(`Here: ${answer} and there`), true],
    [json(asCall), false],
    [asCallStream, true],
    // Answered by the second attempt.
    [chat(`Here: ${answer}`), false, [failing]],
    [chat(`Here: ${answer}`), true, [failing]],
  ];
  for (const [given, streamed, before = []] of answers) {
    place.stub.answer(given);
    place.stub.answerOnce(...before);
    const response = await send(canaries, place, { body: { stream: streamed } });
    const body = await response.text();
    if (!body.includes(answer)) throw new Error(`The answer is not the provider's: ${response.status} ${body}`);
    sent.answered.push({ generation: response.headers.get("x-generation-id") ?? "", streamed });
  }
}

/** A client that disconnects in the middle of its answer. */
async function leaveOne(canaries: Canaries, place: Place): Promise<void> {
  const manual = new ManualStream();
  place.stub.answer(manual.answer);
  const controller = new AbortController();
  const sending = send(canaries, place, { body: { stream: true }, signal: controller.signal });
  await manual.piece(canaries.answer);
  await (await sending).body?.getReader().read();
  const calls = place.stub.calls.length;
  controller.abort();
  await place.stub.ended(calls);
}

/** Traffic that puts canaries wherever they could go: success, streams, retries, disconnects, every error. */
import { send, sendPrompt, type Canaries, type Place, type SentTraffic } from "./canaries.ts";
import { failAll } from "./canary-failures.ts";
import { refuseAll } from "./canary-refusals.ts";
import { embeddings } from "../providers/embedding-answers.ts";
import { chunk, chat, completion, error, json, ManualStream, stream, type StubAnswer } from "../providers/stub-answers.ts";

/** Sends every kind of request, one after another. */
export async function spreadCanaries(canaries: Canaries, place: Place): Promise<SentTraffic> {
  const sent: SentTraffic = { answered: [], embedded: [], failed: [], errors: "" };
  await answerAll(canaries, place, sent);
  await leaveOne(canaries, place);
  await embedAll(canaries, place, sent);
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
  for (const streamed of [false, true]) {
    place.stub.answer(chat(`Here: ${answer}`));
    const response = await sendPrompt(canaries, place, streamed);
    const body = await response.text();
    if (!body.includes(answer)) throw new Error(`The completion is not the provider's: ${response.status} ${body}`);
    sent.answered.push({ generation: response.headers.get("x-generation-id") ?? "", streamed });
  }
}

/** Embedded texts are stored nowhere, even where prompts are: they have the same canary, and their generations no prompt. */
async function embedAll(canaries: Canaries, place: Place, sent: SentTraffic): Promise<void> {
  const { prompt, providerError } = canaries;
  const requests: [body: Record<string, unknown>, status: number][] = [
    [{ input: [`About ${prompt}`, prompt] }, 200],
    [{ input: prompt, encoding_format: "float" }, 200],
    [{ input: `sandbox: ${prompt}` }, 400],
    [{ input: [prompt, 1] }, 400],
    [{ input: [{ text: prompt }] }, 400],
    [{ input: prompt, dimensions: prompt }, 400],
    [{ input: prompt, [prompt]: prompt }, 400],
  ];
  for (const [body, status] of requests) await embedOne({ canaries, place, sent }, { model: "sandbox/embed", ...body }, status);
  // Providers repeat a text that they refuse.
  const refusal = `${providerError}: ${prompt}`;
  const answers: [given: StubAnswer, status: number][] = [
    [embeddings(), 200],
    [embeddings({ change: () => [{ object: "embedding", index: 0, embedding: prompt }] }), 502],
    [error(400, refusal, refusal), 400],
    [error(500, refusal, refusal), 502],
    [json({ error: { message: refusal, code: refusal } }), 502],
  ];
  for (const [given, status] of answers) {
    place.stub.answer(given);
    await embedOne({ canaries, place, sent }, { model: "stub/embed", input: prompt }, status);
  }
}

async function embedOne(
  { canaries, place, sent }: { canaries: Canaries; place: Place; sent: SentTraffic },
  body: Record<string, unknown>,
  status: number,
): Promise<void> {
  const response = await fetch(`${place.url}/gpt/v1/embeddings`, {
    method: "POST",
    headers: { authorization: `Bearer ${place.key}`, "content-type": "application/json" },
    body: JSON.stringify({ user: canaries.aside, ...body }),
  });
  const text = await response.text();
  if (response.status !== status) throw new Error(`Embeddings were answered with ${response.status}: ${text}`);
  const generation = response.headers.get("x-generation-id");
  if (generation !== null) sent.embedded.push(generation);
  if (status !== 200) sent.errors += text;
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

/** Texts that must not turn up where they do not belong, and the traffic that carries them everywhere they could. */
import type { ProviderStub } from "./provider-stub.ts";
import { chat as ask, outcomeOf } from "./requests.ts";
import { chunk, chat, completion, error, json, ManualStream, stream, text, type StubAnswer } from "./stub-answers.ts";

export interface Canaries {
  /** In what clients send. */
  prompt: string;
  /** In what the provider answers. */
  answer: string;
  /** In the errors of the provider. */
  providerError: string;
  /** A key of the right form that nobody has, and one of no form at all. */
  wrongKeys: string[];
}

export function newCanaries(): Canaries {
  const id = () => crypto.randomUUID().replaceAll("-", "");
  return {
    prompt: `canary-prompt-${id()}`,
    answer: `canary-answer-${id()}`,
    providerError: `canary-provider-error-${id()}`,
    wrongKeys: [`platform-api-${id()}${id()}`, `canary-key-${id()}`],
  };
}

export interface Told {
  /** Generations that were answered with the canary of the answer. */
  answered: { generation: string; streamed: boolean }[];
  /** Generations whose provider failed before it said anything. */
  failed: string[];
  /** All that clients were sent by errors. */
  errors: string;
}

interface Place {
  url: string;
  key: string;
  stub: ProviderStub;
}

/** Sends every kind of request that there is, one after the other. */
export async function spreadCanaries(canaries: Canaries, place: Place): Promise<Told> {
  const told: Told = { answered: [], failed: [], errors: "" };
  await answerAll(canaries, place, told);
  await leaveOne(canaries, place);
  await failAll(canaries, place, told);
  await refuseAll(canaries, place, told);
  return told;
}

function messagesOf({ prompt }: Canaries): Record<string, unknown>[] {
  const call = { id: "call_1", type: "function", function: { name: "look", arguments: JSON.stringify({ at: prompt }) } };
  return [
    { role: "system", content: `You know ${prompt}` },
    { role: "user", content: [{ type: "text", text: `Say ${prompt}` }] },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "call_1", content: prompt },
  ];
}

function send(canaries: Canaries, { url, key }: Place, body: Record<string, unknown> = {}): Promise<Response> {
  return ask({ url, key, body: { messages: messagesOf(canaries), max_tokens: 100, ...body } });
}

async function answerAll(canaries: Canaries, place: Place, told: Told): Promise<void> {
  const { answer } = canaries;
  const call = { id: "call_2", type: "function", function: { name: "look", arguments: JSON.stringify({ found: answer }) } };
  const asCall = completion({ role: "assistant", content: null, refusal: null, tool_calls: [call] }, "tool_calls");
  const asCallStream = stream([chunk({ role: "assistant", tool_calls: [{ index: 0, ...call }] }), chunk({}, "tool_calls")]);
  const answers: [StubAnswer, boolean][] = [
    [chat(`Here: ${answer}`), false],
    [chat(`Here: ${answer} and there`), true],
    [json(asCall), false],
    [asCallStream, true],
  ];
  for (const [given, streamed] of answers) {
    place.stub.answer(given);
    const response = await send(canaries, place, { stream: streamed });
    const body = await response.text();
    if (!body.includes(answer)) throw new Error(`The answer is not the provider's: ${response.status} ${body}`);
    told.answered.push({ generation: response.headers.get("x-generation-id") ?? "", streamed });
  }
}

/** A client that hangs up in the middle of its answer. */
async function leaveOne(canaries: Canaries, place: Place): Promise<void> {
  const manual = new ManualStream();
  place.stub.answer(manual.answer);
  const controller = new AbortController();
  const sending = ask({
    ...place,
    body: { messages: messagesOf(canaries), stream: true, max_tokens: 100 },
    signal: controller.signal,
  });
  await manual.piece(canaries.answer);
  await (await sending).body?.getReader().read();
  const calls = place.stub.calls.length;
  controller.abort();
  await place.stub.ended(calls);
}

async function failAll(canaries: Canaries, place: Place, told: Told): Promise<void> {
  const { providerError: words } = canaries;
  const failure = { error: { message: words, type: words, code: words, param: words } };
  const early: StubAnswer[] = [
    ...[400, 401, 403, 404, 413, 422, 429, 500, 529].map((status) => error(status, "context_length_exceeded", words)),
    ...[400, 500].map((status) => json(failure, status)),
    text(`<html><body>${words}</body></html>`, { status: 502, type: "text/html" }),
    text(words),
    json(failure),
    stream([failure]),
    stream([{ ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: words }] }]),
  ];
  for (const given of early) {
    for (const streamed of [false, true]) {
      place.stub.answer(given);
      const response = await send(canaries, place, { stream: streamed });
      told.errors += await response.text();
      told.failed.push(response.headers.get("x-generation-id") ?? "");
    }
  }
  place.stub.answer(stream([chunk({ content: "Well" }), failure]));
  told.errors += await (await send(canaries, place, { stream: true })).text();
}

/** What never reaches a provider. */
async function refuseAll(canaries: Canaries, place: Place, told: Told): Promise<void> {
  const { prompt, wrongKeys } = canaries;
  const bodies: Record<string, unknown>[] = [
    { messages: [{ role: prompt, content: prompt }] },
    { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: prompt } }] }] },
    { messages: [{ role: "user", content: prompt }], temperature: prompt },
    { messages: [{ role: "user", content: prompt }], n: 2 },
    { messages: prompt },
    { messages: [{ role: "user", content: prompt }], model: "nobody/nothing" },
  ];
  for (const body of bodies) await outcomeOf(ask({ ...place, body }));
  for (const raw of [`{"messages": "${prompt}`, prompt, `["${prompt}"]`]) {
    const headers = { authorization: `Bearer ${place.key}`, "content-type": "application/json" };
    await (await fetch(`${place.url}/gpt/v1/chat/completions`, { method: "POST", headers, body: raw })).text();
  }
  for (const key of wrongKeys) {
    const response = await send(canaries, { ...place, key });
    if (response.status !== 401) throw new Error(`A wrong key was answered with ${response.status}`);
    told.errors += await response.text();
    await (await fetch(`${place.url}/gpt/v1/key`, { headers: { authorization: `Bearer ${key}` } })).text();
    await (await fetch(`${place.url}/api/console/workspaces`, { headers: { authorization: `Bearer ${key}` } })).text();
  }
}

/** Providers that fail in every way, with texts that must reach no one. */
import { gzipSync } from "node:zlib";
import { send, type Canaries, type Place, type SentTraffic } from "./canaries.ts";
import { chunk, error, json, redirect, stream, text, type StubAnswer } from "../providers/stub-answers.ts";

/** Before the answer begins. */
function early(words: string): StubAnswer[] {
  const failure = { error: { message: words, type: words, code: words, param: words } };
  return [
    ...[400, 401, 403, 404, 413, 422, 429, 500, 529].map((status) => error(status, "context_length_exceeded", words)),
    ...[400, 500].map((status) => json(failure, status)),
    text(`<html><body>${words}</body></html>`, { status: 502, type: "text/html" }),
    text(words),
    text(`{"choices":[{"message":{"content":${words}`, { type: "application/json" }),
    json(failure),
    json({ [words]: words }),
    redirect(`https://${words}.example/`),
    stream([failure]),
    (response) =>
      void response.writeHead(500, words, { "set-cookie": words, "x-request-id": words, "content-type": words }).end(words),
    (response) =>
      void response
        .writeHead(500, { "content-encoding": "gzip", "content-type": "application/json" })
        .end(gzipSync(JSON.stringify(failure))),
    (response) => void response.writeHead(200, { "content-encoding": words }).end(words),
    (response) => void response.socket?.end(`HTTP/1.1 200 ${words}\r\n${words}\r\n\r\n`),
  ];
}

/** After a word of it, or as the reason why there is none. */
function late(words: string): StubAnswer[] {
  const begun = chunk({ content: "Well" });
  return [
    stream([begun, { error: { message: words, code: words } }]),
    stream([{ ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: words }] }]),
    stream([begun, { [words]: words }], { end: "break" }),
    stream([begun, { ...chunk({}, words), usage: { prompt_tokens: words } }]),
  ];
}

export async function failAll(canaries: Canaries, place: Place, sent: SentTraffic): Promise<void> {
  for (const given of early(canaries.providerError)) {
    for (const streamed of [false, true]) {
      place.stub.answer(given);
      const response = await send(canaries, place, { body: { stream: streamed } });
      sent.errors += headed(response) + (await response.text());
      sent.failed.push(response.headers.get("x-generation-id") ?? "");
    }
  }
  for (const given of late(canaries.providerError)) {
    place.stub.answer(given);
    const response = await send(canaries, place, { body: { stream: true } });
    sent.errors += headed(response) + (await response.text());
  }
}

function headed({ headers, statusText }: Response): string {
  return `${statusText} ${JSON.stringify([...headers])}`;
}

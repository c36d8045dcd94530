/** The gateway's own work for a whole answer of a provider of the OpenAI format, without sockets: the request, its head, the answer. */
import { chatFormat } from "../../src/gateway/api/answer/answer-format.ts";
import { checkChat } from "../../src/gateway/api/request/chat-request.ts";
import { jsonTextResponse } from "../../src/kernel/json.ts";
import { dialectFrom } from "../../src/gateway/models/dialect.ts";
import type { Route } from "../../src/gateway/models/model.ts";
import { openai } from "../../src/gateway/providers/registry.ts";
import { AnswerReader } from "../../src/gateway/providers/transport/answer-reader.ts";
import { destinationOf, requestHead } from "../../src/gateway/providers/transport/network.ts";
import { bodyOf } from "../load/body.ts";
import type { Microbenchmark } from "./benchmark.ts";

const id = "gen-23456723456723456723456723";
const route: Route = {
  provider: {
    id: "bench",
    name: "Bench",
    format: "openai",
    baseUrl: "http://127.0.0.1:9/v1",
    keyEnv: null,
    cancelStopsBilling: true,
    streamOptions: true,
    dialect: dialectFrom("openai"),
    zeroDataRetention: false,
    termsChecked: true,
    subprocessorListed: true,
  },
  format: "openai",
  upstreamModel: "instant-16",
  prices: null,
  hiddenInputTokens: null,
  maxTokensField: "max_completion_tokens",
  entry: "bench",
};
const body = bodyOf({ model: "bench/instant-16", streamed: false, bodyBytes: 1_024, maxTokens: 16 });
const { body: chat } = checkChat(body, { find: () => null });

/** As many headers as OpenAI sends. */
const headerLines = Array.from({ length: 22 }, (_, n) => `X-Some-Header-${n}: a value of some length ${n}\r\n`).join("");
const message = { role: "assistant", content: "word ".repeat(16), refusal: null };
const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }];
const usage = { prompt_tokens: 20, completion_tokens: 16, total_tokens: 36 };
const completion = { id: "chatcmpl-1", object: "chat.completion", created: 1_700_000_000, model: "m", choices, usage };
const answer = JSON.stringify(completion);
const bytes = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${headerLines}Content-Length: ${answer.length}\r\n\r\n${answer}`,
);
const headers = { "x-generation-id": id, "x-request-id": id, "x-ratelimit-limit-requests": "60" };
const counts = { promptTokens: 20, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 16, reasoningTokens: 0 };

const upstream = new URL(`${route.provider.baseUrl}/chat/completions`);

/** Bytes, so that the text is made in one piece, as a socket needs it. */
function encoded(): number {
  const call = openai.encode({ generation: id, route, chat, maxOutputTokens: 16, streamed: false });
  return Buffer.byteLength(requestHead(destinationOf(upstream), { ...call, accept: "application/json" }) + call.body);
}

function headRead(): number {
  let status = 0;
  const reader = new AnswerReader({ begun: (head) => (status = head.status), piece() {}, ended() {} });
  reader.push(bytes);
  return status;
}

function answered(): Response {
  const facts = { id, created: 1_795_000_000, model: "bench/instant-16", usage: counts, signer: "bench_instant-16" };
  return jsonTextResponse(chatFormat.wholeText(openai.decodeAnswer(JSON.parse(answer)), facts), headers);
}

export const providerCall: Microbenchmark = {
  unit: "call",
  async prepare() {
    return [
      { name: "the request's text", units: 1, call: encoded },
      { name: "a head of 24 headers read", units: 1, call: headRead },
      { name: "the answer decoded and written", units: 1, call: answered },
    ];
  },
};

import { describe, expect, test } from "bun:test";
import { agentApis, agentBody, agentMessages, agentTools, type AgentApi } from "../../bench/load/agent-body.ts";
import { bodyOf } from "../../bench/load/body.ts";
import { isLoopback } from "../../bench/load/load-arguments.ts";
import { EventReader, sentMark } from "../../bench/load/event-reader.ts";
import { Histogram } from "../../bench/load/histogram.ts";
import { ResponseReader } from "../../bench/load/response-reader.ts";
import { runLoad } from "../../bench/load/run-load.ts";
import { targetOf } from "../../bench/load/target.ts";
import { answerTexts } from "../../bench/mock-answers.ts";
import { checkEmbedding } from "../../src/gateway/api/request/embedding.ts";
import { chatRequestFormat, checkChat, checkRequest } from "../../src/gateway/api/request/chat-request.ts";
import { messagesFormat } from "../../src/gateway/api/messages/request.ts";
import { responsesFormat } from "../../src/gateway/api/responses/request.ts";
import type { WireFormat } from "../../src/gateway/providers/provider.ts";
import { anthropic, openai, responses } from "../../src/gateway/providers/registry.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { chatModel } from "../support/providers/model.ts";

interface Read {
  statuses: number[];
  body: string;
  ends: number;
}

/** Reads these bytes in chunks of this size. */
function read(text: string, pieceBytes: number): Read {
  const found: Read = { statuses: [], body: "", ends: 0 };
  const reader = new ResponseReader({
    head: ({ status }) => void found.statuses.push(status),
    body: (bytes, from, to) => void (found.body += bytes.toString("utf8", from, to)),
    end: () => void found.ends++,
  });
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += pieceBytes) reader.push(bytes.subarray(from, from + pieceBytes));
  return found;
}

const counted = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nda: \r\n6\r\nweir!!\r\n0\r\n\r\n";

describe("the load generator reads answers", () => {
  test.each([1, 2, 3, 7, 1_000])("the reader accepts chunks of %d bytes", (pieceBytes) => {
    const found = read(`${counted}${chunked}HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n`, pieceBytes);
    expect(found).toEqual({ statuses: [200, 200, 429], body: "helloda: weir!!", ends: 3 });
  });

  test("the reader refuses bytes that are not HTTP", () => {
    expect(() => read("SSH-2.0-OpenSSH_9.2\r\n\r\n", 100)).toThrow("not HTTP/1.1");
  });
});

describe("the load generator reads events", () => {
  test("the reader returns complete events, with the provider's time, the error and the end", () => {
    const reader = new EventReader();
    const mark = sentMark();
    const text = `: comment\n\ndata: {"content":"${mark}"}\n\ndata: {"error":{"code":"upstream_error"}}\n\ndata: [DONE]\n\n`;
    const events = [...text].flatMap((character) => reader.push(Buffer.from(character)));
    expect(events).toEqual([
      { done: false, error: null, sentAt: Number(mark.slice(1, -1)) },
      { done: false, error: "upstream_error", sentAt: null },
      { done: true, error: null, sentAt: null },
    ]);
  });
});

describe("the mock provider", () => {
  const decoders: Record<AgentApi, WireFormat> = { chat: openai, messages: anthropic, responses };

  test.each(agentApis)("its answers are those of %s, whole and streamed, and their last event is recognised", (api) => {
    const { whole, stream, events } = answerTexts(api, 300);
    const usage = expect.objectContaining({ promptTokens: 20, completionTokens: 300 });
    expect(decoders[api].decodeAnswer(JSON.parse(whole)).usage).toEqual(usage);
    const text = stream.join(sentMark());
    const found = new EventReader().push(Buffer.from(text));
    expect(found.filter(({ sentAt }) => sentAt !== null)).toHaveLength(300);
    expect(found.map(({ done }) => done).indexOf(true)).toBe(found.length - 1);
    expect(events.map((one) => one.join(sentMark())).join("").length).toBe(text.length);
    const decode = decoders[api].streamDecoder();
    const decoded = [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, data = ""]) => decode(data));
    expect(decoded.filter(({ kind }) => kind === "failure")).toEqual([]);
    expect(decoded.filter(({ kind }) => kind === "delta").length).toBeGreaterThanOrEqual(300);
    expect(decoded).toContainEqual(expect.objectContaining({ kind: "usage", usage }));
    expect(decoded.at(-1)?.kind).toBe("end");
  });
});

describe("a histogram", () => {
  test("any percentile is exact within one percent", () => {
    const histogram = new Histogram();
    for (let n = 1; n <= 10_000; n++) histogram.add(n / 100);
    for (const share of [0.5, 0.9, 0.99, 0.999]) {
      expect(Math.abs(histogram.quantile(share) / (share * 100) - 1)).toBeLessThan(0.01);
    }
    expect(histogram.summary()).toMatchObject({ count: 10_000, min: 0.01, max: 100 });
  });

  test("the curve ends at the share of a single request", () => {
    const histogram = new Histogram();
    for (let n = 1; n <= 1_000; n++) histogram.add(n);
    const curve = histogram.curve();
    expect(curve[0]?.share).toBe(0);
    expect(curve[0]?.ms).toBeCloseTo(1, 2);
    expect(curve.at(-1)?.share).toBeCloseTo(0.999, 6);
    expect(curve.at(-1)?.ms).toBeGreaterThan(990);
    expect(curve.map(({ ms }) => ms)).toEqual(curve.map(({ ms }) => ms).toSorted((one, other) => one - other));
  });
});

describe("the body of a request", () => {
  test.each([
    [1_024, 1],
    [100 * 1_024, 25],
    [8 * 1_024 * 1_024, 1_999],
  ])("a body of %d bytes has exactly these, in %d messages, and the API accepts it", (bodyBytes, messages) => {
    const body = bodyOf({ model: "sandbox/echo", streamed: true, bodyBytes, maxTokens: 16 });
    expect(body.length).toBe(bodyBytes);
    expect(checkChat(body, { find: () => null }).body.messages).toHaveLength(messages);
  });

  test("a body of embeddings has as many texts of the same size, and the API accepts it", () => {
    const body = bodyOf({ model: "sandbox/embed", streamed: false, bodyBytes: 16 * 1_024, maxTokens: 16, texts: 16 });
    const { inputs } = checkEmbedding(body, { find: () => null });
    expect(inputs.kind === "texts" && inputs.texts.map((text) => text.length)).toEqual(Array.from({ length: 16 }, () => 1_024));
  });

  test.each(agentApis)("an agent's request on %s has its size, its messages and tools, and the API accepts it", (api) => {
    const bytes = agentBody(api, { model: "acme/one", bodyBytes: 128 * 1_024, maxTokens: 1_024 });
    expect(bytes.length).toBe(128 * 1_024);
    const formats = {
      chat: chatRequestFormat,
      messages: messagesFormat({ version: "2023-06-01" }),
      responses: responsesFormat(systemClock),
    };
    const { chat } = checkRequest(bytes, formats[api], { find: () => chatModel(["tools"]) });
    expect(chat).toMatchObject({ streamed: true, maxTokens: 1_024, tools: true });
    expect(chat.body.messages.length).toBe(agentMessages);
    expect(chat.body["tools"]).toHaveLength(agentTools);
  });

  test("a body larger than the socket's buffer arrives complete, and a server that answers early gets a new connection", async () => {
    const received: number[] = [];
    const enough = new AbortController();
    using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        if (new URL(request.url).pathname === "/early") return new Response("{}", { status: 413 });
        received.push((await request.arrayBuffer()).byteLength);
        // Two connections, so that at least one has sent a second body.
        if (received.length === 3) enough.abort();
        return new Response("{}");
      },
    });
    const bodyBytes = 8 * 1_024 * 1_024;
    const plan = { keys: ["key"], model: "m", streamed: false, bodyBytes, maxTokens: 1, headers: {} };
    const load = (path: string, seconds: number) =>
      runLoad({
        target: targetOf({ url: new URL(`http://127.0.0.1:${server.port}`), path, ...plan }),
        loop: { kind: "closed", connections: 2, rampSeconds: 0 },
        warmUpSeconds: 0,
        seconds,
        timeoutSeconds: 20,
        progress() {},
        stop: path === "/whole" ? enough.signal : new AbortController().signal,
      });
    expect(await load("/whole", 20)).toMatchObject({ failedInAll: 0 });
    expect(received.length).toBeGreaterThan(2);
    expect(new Set(received)).toEqual(new Set([bodyBytes]));
    expect(await load("/early", 0.3)).toMatchObject({ succeeded: 0, codes: { "status 413": expect.any(Number) } });
  });
});

describe("an open loop", () => {
  test("latency counts from when a request was due, so that a stalled server is not spared", async () => {
    const stopMs = 300;
    let first = true;
    using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch() {
        if (first) await new Promise((resolve) => setTimeout(resolve, stopMs));
        first = false;
        return new Response("{}");
      },
    });
    const plan = { path: "/", keys: ["key"], model: "m", streamed: false, bodyBytes: 100, maxTokens: 1, headers: {} };
    const result = await runLoad({
      target: targetOf({ url: new URL(`http://127.0.0.1:${server.port}`), ...plan }),
      loop: { kind: "open", perSecond: 100, connectionsMax: 1 },
      warmUpSeconds: 0,
      seconds: 0.5,
      timeoutSeconds: 5,
      progress() {},
      stop: new AbortController().signal,
    });
    expect(result).toMatchObject({ succeeded: 50, failed: 0, underWayMax: 1, statuses: { 200: 50 } });
    // 50 requests were due in half a second, 30 of them in the pause. A tenth of all waited for at least five sixths of it.
    expect(result.latencyMs?.p90).toBeGreaterThan((stopMs * 3) / 4);
  });
});

test.each([
  ["localhost", true],
  ["127.8.9.1", true],
  ["[::1]", true],
  ["example.com", false],
  ["127.0.0.1.example.com", false],
  ["10.0.0.1", false],
])("isLoopback(%p) is %p", (hostname, expected) => {
  expect(isLoopback(hostname)).toBe(expected);
});

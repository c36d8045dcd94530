/** Clients that misbehave on the connection, over bare sockets. Hostile requests are in test/hostile/corpus. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { expectExactBalance } from "../../../../support/gateway/exact-ledger.ts";
import { RawClient } from "../../../../support/servers/raw-client.ts";
import { chat, chunk, type StubAnswer } from "../../../../support/providers/stub-answers.ts";
import { until } from "../../../../support/until.ts";
import { bodyMs, expectSound, post, settledAlone, stage, type Stage } from "./stage.ts";

let on: Stage;
beforeAll(async () => void (on = await stage()), 60_000);
afterAll(() => expectSound(on));

const body = JSON.stringify({ model: "stub/model", messages: [{ role: "user", content: "Hello" }] });
const streamed = JSON.stringify({ ...JSON.parse(body), stream: true });

function client(): RawClient {
  return new RawClient(on.fleet.gateways[0]?.port ?? 0);
}

/** The head of a chat request, with its empty line. */
function head(key: string, ...headers: string[]): string {
  const first = ["POST /gpt/v1/chat/completions HTTP/1.1", "Host: weir", `Authorization: Bearer ${key}`];
  return [...first, ...headers, "", ""].join("\r\n");
}

/** The requests with the key of `on.refused` left no trace. */
const expectNothing = () => expectExactBalance(on.fleet.operator(), on.refused, { credit: "10", generations: 0 });

describe("a body that does not arrive", () => {
  test.each([
    ["of a length that was announced", ["Content-Length: 1000"], "{"],
    ["in chunks", ["Transfer-Encoding: chunked"], "1\r\n{\r\n"],
  ])("a body %s is refused when its time is over, although it trickles", async (_, headers, piece) => {
    using trickling = client();
    trickling.send(head(on.refused.key, ...headers, "Connection: close"));
    const startedAt = performance.now();
    const timer = setInterval(() => trickling.send(piece), 100);
    await until(() => trickling.text.includes("}}"), 3 * bodyMs + 7_000).finally(() => clearInterval(timer));
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(bodyMs * 0.9);
    expect(trickling.text).toStartWith("HTTP/1.1 400 ");
    expect(trickling.text).toEndWith(
      '{"error":{"message":"The request body did not arrive in time","type":"invalid_request_error","code":"invalid_request","param":null}}',
    );
    await expectNothing();
  });

  test("a body whose client breaks off leaves no trace", async () => {
    const calls = on.stub.calls.length;
    for (const headers of [["Content-Length: 1000"], ["Transfer-Encoding: chunked"]]) {
      using breaking = client();
      breaking.send(head(on.refused.key, ...headers)).send("7\r\n{");
      await new Promise((resolve) => setTimeout(resolve, 50));
      breaking.reset();
    }
    await expectNothing();
    expect(on.stub.calls).toHaveLength(calls);
  });
});

describe("a client that never reads", () => {
  /** Writes endlessly, at its socket's pace. */
  let written = 0;
  const endless: StubAnswer = async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const event = `data: ${JSON.stringify(chunk({ content: "x".repeat(16_384) }))}\n\n`;
    while (!response.destroyed) {
      written += event.length;
      if (!response.write(event)) await once(response, "drain");
    }
  };

  test("a client that never reads stops its provider; when it leaves, it pays for what could be delivered, and the call ends", async () => {
    const customer = await on.customer();
    on.stub.answerOnce(endless);
    const calls = on.stub.calls.length;
    using lazy = client();
    lazy
      .stopReading()
      .send(head(customer.key, `Content-Length: ${streamed.length}`))
      .send(streamed);
    await on.stub.called(calls + 1);
    let before = -1;
    await until(async () => {
      const stopped = written === before && written > 0;
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return stopped;
    });
    // Linux buffers up to 36 MiB for each of the two connections, more after earlier traffic on loopback.
    expect(written).toBeLessThan(80 * 1024 * 1024);
    lazy.reset();
    expect((await on.stub.ended(calls + 1)).state).toBe("cancelled");
    const row = await settledAlone(on, customer);
    expect(row).toMatchObject({ code: "client_gone", usage_estimated: true });
    expect(row.completion_tokens).toBeWithin(1, written);
  }, 30_000);

  test("a client that never reads pays for a full answer, which is settled before it is sent", async () => {
    const customer = await on.customer();
    on.stub.answerOnce(
      chat("x".repeat(8 * 1024 * 1024), { usage: { prompt_tokens: 10, completion_tokens: 900, total_tokens: 910 } }),
    );
    using lazy = client();
    lazy
      .stopReading()
      .send(head(customer.key, `Content-Length: ${body.length}`))
      .send(body);
    await settledAlone(on, customer, 10_000n + 900n * 2_000n);
  }, 30_000);
});

describe("headers", () => {
  test("the client's headers do not reach the provider and do not change the response", async () => {
    const customer = await on.customer();
    const evil = ["x-request-id", "x-generation-id", "x-client-request-id", "traceparent", "cookie", "user-agent", "x-api-key"];
    const more = ["openai-organization", "anthropic-beta", "x-goog-api-key", "x-forwarded-for", "accept-encoding", "referer"];
    const response = await post(on, customer.key, body, Object.fromEntries([...evil, ...more].map((name) => [name, "evil-7"])));
    expect(JSON.stringify([...response.headers])).not.toContain("evil-7");
    const { headers, generation } = on.stub.calls.at(-1) ?? { headers: {}, generation: null };
    expect(JSON.stringify(headers)).not.toContain("evil-7");
    expect(JSON.stringify(headers)).not.toContain(customer.key);
    expect(headers).toMatchObject({ authorization: "Bearer sk-of-the-stub", "user-agent": "weir" });
    expect(generation).toBe(response.headers.get("x-generation-id"));
    await settledAlone(on, customer);
  });
});

describe("the Host header", () => {
  const ask = async (path: string, host: string): Promise<string> => {
    using asking = client();
    asking.send(
      `GET /gpt/v1${path} HTTP/1.1`,
      `Host: ${host}`,
      `Authorization: Bearer ${on.refused.key}`,
      "Connection: close",
      "",
      "",
    );
    return (await asking.answer()).slice(0, 12);
  };

  test.each(["a", "gw", "x.y", "gw:1", "127.0.0.1", "[::1]", "a_b", "%", "[", "a:b", "a:99999"])(
    "the Host header may be %p",
    async (host) => {
      expect(await ask("/key", host)).toBe("HTTP/1.1 200");
      expect(await ask("/models/sandbox%2Fecho", host)).toBe("HTTP/1.1 200");
      expect(await ask("/models?all=true", host)).toBe("HTTP/1.1 200");
    },
  );

  test.each(["", "a b", "a/b", "a?b", "a#b", "user@x", "<>", "http://weir"])(
    "the Host header %p, which is not a host, is 404 or 400",
    async (host) => {
      expect(await ask("/models?all=true", host)).toMatch(/^HTTP\/1\.1 40[04]$/);
    },
  );
});

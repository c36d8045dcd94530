/** The handlers use only web standards: the same app behaves the same on Deno. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { bodyBytesMax } from "../../src/gateway/limits.ts";
import { deno, DenoService } from "../support/processes/deno.ts";
import type { Customer, LogRow } from "../support/operator.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import { chat, completion, outcomeOf } from "../support/gateway/requests.ts";
import * as stubAnswers from "../support/providers/stub-answers.ts";
import { writeStubCatalog } from "../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

describe.skipIf(deno === null)("on Deno", () => {
  const stack = new AsyncDisposableStack();
  let stub: ProviderStub;
  let service: DenoService;
  let customer: Customer;
  let key = "";

  beforeAll(async () => {
    const { path: folder } = stack.use(await temporaryFolder());
    stub = stack.use(await startProviderStub());
    const catalogDir = await writeStubCatalog(`${folder}/catalog`, { url: stub.url, provider: { cancel_stops_billing: true } });
    service = stack.use(await DenoService.start({ folder, catalogDir }));
    customer = await service.operator.customer({ credit: "10" });
    key = customer.keys[0]?.key ?? "";
    await until(async () => (await (await call("/models/stub/model")).text()).includes('"runnable":true'), 20_000);
  }, 60_000);
  afterAll(() => stack.disposeAsync());

  function call(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${service.url}/gpt/v1${path}`, { ...init, headers: { authorization: `Bearer ${key}` } });
  }

  function ask(body: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Response> {
    return chat({ url: service.url, key, body, ...(signal && { signal }) });
  }

  /** The log row of a generation, when it is settled. */
  async function settled(generation: string | null): Promise<LogRow> {
    let row: LogRow | undefined;
    await until(async () => {
      row = (await service.operator.log(`workspace=${customer.workspace}`)).find((one) => one.generation_id === generation);
      return row !== undefined;
    });
    if (row === undefined) throw new Error("It was never settled");
    return row;
  }

  test("a chat completion is answered and charged", async () => {
    const response = await ask();
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "Hello from the stub" } }] });
    const row = await settled(response.headers.get("x-generation-id"));
    expect(row).toMatchObject({ status: 200, code: null, streamed: false });
    expect(Number(row.cost_usd)).toBeGreaterThan(0);
  });

  test("a stream forwards each event at once and ends with [DONE]", async () => {
    const answer = new stubAnswers.ManualStream();
    stub.answerOnce(answer.answer);
    const asked = ask({ stream: true });
    await answer.piece("one");
    const response = await asked;
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let lines = "";
    const readUntil = async (word: string) => {
      while (!lines.includes(word)) lines += (await reader?.read())?.value ?? "";
    };
    await readUntil("one");
    await answer.piece("two");
    await readUntil("two");
    await answer.finish();
    await readUntil("data: [DONE]\n\n");
    expect((await reader?.read())?.done).toBe(true);
    expect(await settled(response.headers.get("x-generation-id"))).toMatchObject({ status: 200, code: null, streamed: true });
  });

  test("a completion is answered whole and streamed, once it is switched on", async () => {
    const complete = (body: Record<string, unknown> = {}) => completion({ url: service.url, key, body });
    expect(await outcomeOf(complete())).toMatchObject({ status: 403, code: "gateway_disabled" });
    await service.operator.call("PATCH", `/workspaces/${customer.workspace}`, { early_access: ["completions"] });
    await until(async () => (await complete()).status === 200);
    expect(await (await complete()).json()).toMatchObject({ choices: [{ text: "Hello from the stub", finish_reason: "stop" }] });
    const streamed = await complete({ stream: true });
    expect(await streamed.text()).toEndWith("data: [DONE]\n\n");
    expect(await settled(streamed.headers.get("x-generation-id"))).toMatchObject({ status: 200, endpoint: "completions" });
  });

  test.each([
    ["DELETE", "/chat/completions", 405, { detail: "Method Not Allowed" }],
    ["POST", "/models", 405, { detail: "Method Not Allowed" }],
    ["GET", "/nothing", 404, { detail: "Not Found" }],
    ["GET", "/models/stub/none", 404, { error: { code: "model_not_found" } }],
    ["POST", "/embeddings", 403, { error: { code: "gateway_disabled" } }],
  ])("%s %s answers %p", async (method, path, status, body) => {
    const response = await call(path, { method });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject(body);
  });

  test("a model is found by its id with an escaped slash", async () => {
    expect(await (await call("/models/stub%2Fmodel")).json()).toMatchObject({ id: "stub/model", runnable: true });
  });

  test("texts are embedded, and a large answer comes whole in pieces", async () => {
    const { keys } = await service.operator.customer({ credit: "1", earlyAccess: ["embeddings"] });
    const input = Array.from({ length: 2_000 }, (_, index) => `text ${index}`);
    const response = await fetch(`${service.url}/gpt/v1/embeddings`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys[0]?.key}` },
      body: JSON.stringify({ model: "sandbox/embed", input }),
    });
    expect(response.status).toBe(200);
    const { data } = (await response.json()) as { data: { index: number; embedding: number[] }[] };
    expect(data.map(({ index, embedding }) => [index, embedding.length])).toEqual(input.map((_, index) => [index, 64]));
  });

  test("a wrong field is 400 with its name, a wrong key 401", async () => {
    const wrong = await ask({ temperature: 3 });
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toMatchObject({ error: { code: "invalid_request", param: "temperature" } });
    expect(await outcomeOf(chat({ url: service.url, key: "none" }))).toMatchObject({ status: 401, code: "invalid_api_key" });
  });

  test.each([
    ["a Content-Length", [], (body: string) => body],
    [
      "no Content-Length",
      ["Transfer-Encoding: chunked"],
      (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ],
    ["Connection: close", ["Connection: close"], (body: string) => body],
  ])("a client that first sends its whole body can read the 413, with %s", async (_, further, encode) => {
    const body = " ".repeat(3 * bodyBytesMax);
    const length = further.includes("Transfer-Encoding: chunked") ? [] : [`Content-Length: ${body.length}`];
    const socket = connect(service.port, "127.0.0.1");
    const answered = readSome(socket, "}}");
    socket.write(
      [
        `POST /gpt/v1/chat/completions HTTP/1.1`,
        "Host: weir",
        `Authorization: Bearer ${key}`,
        ...length,
        ...further,
        "",
        "",
      ].join("\r\n"),
    );
    await new Promise<void>((resolve, reject) => socket.write(encode(body), (error) => (error ? reject(error) : resolve())));
    expect(await answered).toMatch(/^HTTP\/1\.1 413 [\s\S]*"code":"request_too_large"/);
    socket.destroy();
  });

  test("when a client hangs up, its provider call is stopped and the delivered text is settled", async () => {
    const answer = new stubAnswers.ManualStream();
    stub.answerOnce(answer.answer);
    const leaving = new AbortController();
    const asked = ask({ stream: true }, leaving.signal);
    await answer.piece("delivered");
    const response = await asked;
    await response.body?.getReader().read();
    leaving.abort();
    const row = await settled(response.headers.get("x-generation-id"));
    expect(row).toMatchObject({ status: 499, code: "client_gone", usage_estimated: true });
    expect(row.completion_tokens).toBeGreaterThan(0);
    await until(() => stub.calls.at(-1)?.state === "cancelled");
  });

  test("a client that hangs up before its stream begins pays for its prompt", async () => {
    stub.answerOnce(stubAnswers.hang);
    const before = stub.calls.length;
    const leaving = new AbortController();
    const asked = ask({ stream: true }, leaving.signal).catch(() => null);
    const { generation } = await stub.called(before + 1);
    leaving.abort();
    await asked;
    expect(await settled(generation)).toMatchObject({
      status: 499,
      code: "client_gone",
      usage_estimated: true,
      prompt_tokens: 5,
    });
    expect(await stub.ended(before + 1)).toMatchObject({ state: "cancelled" });
  });

  test("an answer that was read to its end never counts as a disconnect", async () => {
    // On Deno a request's signal aborts on success as well.
    const answers = [true, false, true, false, true, false].map((stream) => outcomeOf(ask({ stream })));
    const rows = await Promise.all((await Promise.all(answers)).map(({ generation }) => settled(generation)));
    expect(rows.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(await service.operator.verify()).toMatchObject({ ok: true, broken: null });
    await until(async () => (await service.operator.show(customer.workspace)).reserved_usd === "0.000000000");
  });
});

/** Everything that has arrived when `word` has. */
function readSome(socket: Socket, word: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    socket.on("data", (bytes) => {
      received += bytes.toString("latin1");
      if (received.includes(word)) resolve(received);
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`The connection was closed after: ${received}`)));
  });
}

/** A request with an Idempotency-Key is served and charged once, in both modes. */
import { beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { expectExactLedger } from "../support/gateway/exact-ledger.ts";
import { outcomeOf, tally, type Outcome } from "../support/gateway/requests.ts";
import type { Customer } from "../support/operator.ts";
import { until } from "../support/until.ts";
import { modes, playable, stage, type Mode, type Stage } from "./stage.ts";
import { thrownBy } from "./thrown-by.ts";

for (const mode of modes) describe.skipIf(!playable(mode))(mode, () => idempotency(mode));

const credit = "1";
/** What `sandbox: usage=1000,500` costs. */
const costNano = 2_000_000n;

interface Sent {
  /** The header's value; absent: none. */
  key?: string;
  said?: string;
  path?: string;
  apiKey?: string | undefined;
  stream?: boolean;
}

function idempotency(mode: Mode): void {
  let on: Stage;
  beforeAll(async () => void (on = await stage(mode)), 90_000);

  async function customer(keys = 1): Promise<Customer & { send: (sent?: Sent) => Promise<Outcome> }> {
    const made = await on.fleet.operator().customer({ credit, keys, earlyAccess: ["completions", "embeddings"] });
    return { ...made, send: (sent = {}) => outcomeOf(post({ apiKey: made.keys[0]?.key, ...sent })) };
  }

  let sent = 0;

  /** To one gateway after another. */
  function post({
    key,
    said = "sandbox: usage=1000,500",
    path = "chat/completions",
    apiKey = "",
    stream,
  }: Sent): Promise<Response> {
    const body = {
      "chat/completions": { model: "sandbox/echo", messages: [{ role: "user", content: said }] },
      completions: { model: "sandbox/echo", prompt: said },
      embeddings: { model: "sandbox/embed", input: said },
      messages: { model: "sandbox/echo", max_tokens: 1_000, messages: [{ role: "user", content: said }] },
      responses: { model: "sandbox/echo", input: said },
    }[path];
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    return fetch(`${on.fleet.url(mode === "embedded" ? 0 : sent++ % 2)}/gpt/v1/${path}`, {
      method: "POST",
      headers: { ...headers, ...(key !== undefined && { "idempotency-key": key }) },
      body: JSON.stringify({ ...body, ...(stream && { stream }) }),
    });
  }

  test.each(["chat/completions", "responses"])(
    "of many requests at once one is served, and a later one learns which: %s",
    async (path) => {
      const { send: sendAt, ...made } = await customer();
      const send = (sent: Sent): Promise<Outcome> => sendAt({ ...sent, path });
      const said = "sandbox: usage=1000,500 delay_ms=300";
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => send({ key: "order-1", said })));
      expect(tally(outcomes)).toEqual({ "200": 1, "409 idempotency_in_progress": 19 });
      const waiting = outcomes.find(({ status }) => status === 409)?.headers;
      expect([waiting?.get("retry-after"), waiting?.get("x-should-retry"), waiting?.get("x-generation-id")]).toEqual([
        "1",
        "true",
        null,
      ]);
      const generation = outcomes.find(({ status }) => status === 200)?.generation ?? "";
      await expectExactLedger(on.fleet.operator(), made, { credit, generations: 1, costNano });
      const again = await send({ key: "order-1", said });
      expect(again).toMatchObject({ status: 409, code: "idempotency_spent", generation });
      expect(again.headers.get("x-should-retry")).toBe("false");
      expect(again.headers.has("x-request-id")).toBe(false);
      expect(await send({ key: '"order-1"', said, stream: true })).toMatchObject({ status: 422, code: "idempotency_mismatch" });
      expect(await send({ key: '"order-1"', said })).toMatchObject({ code: "idempotency_spent", generation });
      await expectExactLedger(on.fleet.operator(), made, { credit, generations: 1, costNano });
    },
  );

  test("a stream is one answer, and a key serves one endpoint and one API key", async () => {
    const { send, keys, ...made } = await customer(2);
    expect(await send({ key: "k", stream: true })).toMatchObject({ status: 200 });
    const paths = ["completions", "embeddings", "messages", "responses"];
    for (const path of paths) expect(await send({ key: "k", path })).toMatchObject({ status: 200 });
    expect(await send({ key: "k", apiKey: keys[1]?.key })).toMatchObject({ status: 200 });
    await expectExactLedger(on.fleet.operator(), made, { credit, generations: 6 });
    expect(await send({ key: "k", stream: true })).toMatchObject({ code: "idempotency_spent" });
    for (const path of paths) {
      expect(await send({ key: "k", path })).toMatchObject({ code: "idempotency_spent" });
      expect(await send({ key: "k", path, said: "Another" })).toMatchObject({ status: 422, code: "idempotency_mismatch" });
    }
    await expectExactLedger(on.fleet.operator(), made, { credit, generations: 6 });
  });

  test("a request that failed and cost nothing runs again at once, under the same key and with any body", async () => {
    const { send, ...made } = await customer();
    expect(await send({ key: "k", said: "sandbox: status=500" })).toMatchObject({ status: 502 });
    // Its end is in the ledger a moment after its answer.
    let outcome: Outcome | undefined;
    await until(async () => (outcome = await send({ key: "k" })).code !== "idempotency_in_progress");
    expect(outcome).toMatchObject({ status: 200 });
    const rows = await expectExactLedger(on.fleet.operator(), made, { credit, generations: 2, costNano });
    expect(rows.map(({ code }) => code)).toEqual([null, "upstream_error"]);
  });

  test("a request that was refused leaves the key for another", async () => {
    const { send, ...made } = await customer();
    expect(await send({ key: "k", said: "x".repeat(9 * 1024 * 1024) })).toMatchObject({ code: "request_too_large" });
    expect(await send({ key: "k" })).toMatchObject({ status: 200 });
    await expectExactLedger(on.fleet.operator(), made, { credit, generations: 1, costNano });
  });

  test("an answer that broke off after a part was delivered is charged, and is not asked for again", async () => {
    const { send, ...made } = await customer();
    await send({ key: "k", said: "sandbox: tokens=8 break_after=4", stream: true });
    const [row] = await expectExactLedger(on.fleet.operator(), made, { credit, generations: 1 });
    expect(Number(row?.cost_usd)).toBeGreaterThan(0);
    const again = await send({ key: "k", said: "sandbox: tokens=8 break_after=4", stream: true });
    expect(again).toMatchObject({ code: "idempotency_spent", generation: row?.generation_id ?? "" });
  });

  test("a client that leaves has spent its key", async () => {
    const { send, keys, ...made } = await customer();
    const leaving = { key: "k", said: "sandbox: tokens=400 gap_ms=20", stream: true };
    const response = await post({ ...leaving, apiKey: keys[0]?.key });
    const reader = response.body?.getReader();
    await reader?.read();
    expect(await send(leaving)).toMatchObject({ code: "idempotency_in_progress" });
    await reader?.cancel();
    await expectExactLedger(on.fleet.operator(), made, { credit, generations: 1 });
    const generation = response.headers.get("x-generation-id") ?? "";
    expect(await send(leaving)).toMatchObject({ code: "idempotency_spent", generation });
  });

  test.each(["", " ", '""', "a b", "\u00e9", "x".repeat(256), `"${"x".repeat(256)}"`])("the key %p is refused", async (key) => {
    const { send } = await customer();
    expect(await send({ key })).toMatchObject({ status: 400, code: "invalid_request" });
  });

  test.each(["chat/completions", "embeddings"])("the body's fields are checked before the key: %s", async (path) => {
    const { keys } = await customer();
    const model = path === "embeddings" ? "sandbox/embed" : "sandbox/echo";
    const response = await fetch(`${on.fleet.url(0)}/gpt/v1/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys[0]?.key}`, "content-type": "application/json", "idempotency-key": "a b" },
      body: JSON.stringify({ model }),
    });
    const missing = path === "embeddings" ? "input" : "messages";
    expect(await response.json()).toMatchObject({ error: { code: "invalid_request", param: missing } });
  });

  test("a key of 255 characters is taken, and a request without one is a request of its own", async () => {
    const { send, ...made } = await customer();
    expect(await send({ key: "x".repeat(255) })).toMatchObject({ status: 200 });
    for (let count = 0; count < 2; count++) expect(await send()).toMatchObject({ status: 200 });
    await expectExactLedger(on.fleet.operator(), made, { credit, generations: 3, costNano: 3n * costNano });
  });

  test("the official package asks again while the first runs, and not when its key is spent", async () => {
    const { send, keys, ...made } = await customer();
    const said = "sandbox: usage=1000,500 delay_ms=600";
    const first = send({ key: "k", said });
    await until(async () => (await on.fleet.operator().show(made.workspace)).reserved_usd !== "0.000000000");
    const statuses: number[] = [];
    const counting = async (...asked: Parameters<typeof fetch>): Promise<Response> => {
      const response = await fetch(...asked);
      statuses.push(response.status);
      return response;
    };
    const client = on.client(keys[0]?.key ?? "", { maxRetries: 5, fetch: counting });
    const messages = [{ role: "user" as const, content: said }];
    // The package writes the same body as the request above.
    const asked = client.chat.completions.create({ model: "sandbox/echo", messages }, { headers: { "idempotency-key": "k" } });
    const error = await thrownBy(asked);
    expect(error).toBeInstanceOf(OpenAI.ConflictError);
    expect(error).toMatchObject({ code: "idempotency_spent" });
    expect(statuses.length).toBeGreaterThan(1);
    expect((await first).status).toBe(200);
    await expectExactLedger(on.fleet.operator(), made, { credit, generations: 1, costNano });
  });

  async function replaying(): Promise<Customer & { post: (sent?: Sent) => Promise<Response> }> {
    const { send: _send, ...made } = await customer();
    await on.fleet.operator().call("PATCH", `/workspaces/${made.workspace}`, { idempotent_replay: true });
    const send = (sent: Sent = {}): Promise<Response> => post({ apiKey: made.keys[0]?.key, ...sent });
    return { ...made, post: send };
  }

  test.each([
    ["a whole chat", {}],
    ["a streamed chat", { stream: true }],
    ["a whole completion", { path: "completions" }],
    ["a streamed completion", { path: "completions", stream: true }],
  ] as [string, Sent][])("%s is sent again where the workspace keeps answers, for nothing", async (_name, sent) => {
    const { post: send, ...made } = await replaying();
    const first = await send({ key: "k", said: "Say it twice", ...sent });
    const text = await first.text();
    await expectExactLedger(on.fleet.operator(), made, { credit, generations: 1 });
    const again = await send({ key: "k", said: "Say it twice", ...sent });
    expect(again.status).toBe(200);
    const of = (name: string): (string | null)[] => [first, again].map(({ headers }) => headers.get(name));
    expect(of("idempotent-replayed")).toEqual([null, "true"]);
    expect(new Set(of("x-generation-id")).size).toBe(1);
    expect(new Set(of("x-request-id")).size).toBe(2);
    expect(new Set(of("content-type")).size).toBe(1);
    const [before, after] = [text, await again.text()];
    if (!sent.stream) expect(JSON.parse(after)).toEqual(JSON.parse(before));
    else expect([wordsOf(after), after.endsWith("data: [DONE]\n\n")]).toEqual([wordsOf(before), true]);
    const rows = await expectExactLedger(on.fleet.operator(), made, { credit, generations: 2 });
    const generation = first.headers.get("x-generation-id");
    expect(rows.map(({ replayed_from }) => replayed_from)).toEqual([generation, null]);
    expect(rows[0]).toMatchObject({ cost_usd: "0.000000000", reserved_usd: "0.000000000", status: 200, prompt_tokens: 0 });
  });

  test("another body is refused, also where answers are kept, and so is an answer that broke off", async () => {
    const { post: send, ...made } = await replaying();
    await outcomeOf(send({ key: "k" }));
    await outcomeOf(send({ key: "broken", said: "sandbox: tokens=8 break_after=4", stream: true }));
    await expectExactLedger(on.fleet.operator(), made, { credit, generations: 2 });
    expect(await outcomeOf(send({ key: "k", said: "Another" }))).toMatchObject({ code: "idempotency_mismatch" });
    const broken = await outcomeOf(send({ key: "broken", said: "sandbox: tokens=8 break_after=4", stream: true }));
    expect(broken).toMatchObject({ code: "idempotency_spent" });
  });
}

/** All texts of a stream, joined. */
function wordsOf(text: string): string {
  const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = ""]) => JSON.parse(json) as StreamedChunk);
  return chunks.flatMap(({ choices }) => choices.map(({ delta, text: words }) => delta?.content ?? words ?? "")).join("");
}

interface StreamedChunk {
  choices: { delta?: { content?: string }; text?: string }[];
}

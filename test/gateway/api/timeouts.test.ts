/**
 * Requests that a provider took and did not answer in time, over real HTTP: each workspace has 0.05 USD of them an hour for nothing, and
 * pays for the others like a client that leaves. An answer of 100 tokens costs 0.01 USD at its provider, so that four are free.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { parseUsd } from "../../../src/kernel/money.ts";
import { expectExactLedger } from "../../support/gateway/exact-ledger.ts";
import type { Customer, LogRow } from "../../support/operator.ts";
import { embeddingModel, embeddings } from "../../support/providers/embedding-answers.ts";
import { startProviderStub, type ProviderStub } from "../../support/providers/provider-stub.ts";
import { chat, chunk, hang, silent, stream, type StubAnswer } from "../../support/providers/stub-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../../support/providers/stub-catalog.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

const stack = new AsyncDisposableStack();
let stub: ProviderStub;
let other: ProviderStub;
let fleet: Fleet;

const good: StubAnswer = (response, call) => (call.path.includes("embeddings") ? embeddings() : chat("Hello"))(response, call);

const prices_per_1m_usd = { input: "1.00", output: "100.00" };

beforeAll(async () => {
  [stub, other] = [stack.use(await startProviderStub(good)), stack.use(await startProviderStub(good))];
  // Takes the bytes of a handshake and says nothing: no connection is ever open.
  const deaf = createServer((socket) => socket.on("error", () => {})).listen(0, "127.0.0.1");
  stack.defer(() => void deaf.close());
  await new Promise((resolve) => deaf.once("listening", resolve));
  const { port } = deaf.address() as { port: number };
  const folder = stack.use(await temporaryFolder());
  const routes = (...providers: string[]) => ({
    routes: providers.map((provider) => ({ provider, upstream_model: "stub-model", prices_per_1m_usd })),
  });
  const catalogDir = await writeCatalog(folder.path, {
    providers: [
      stubProvider({ base_url: stub.url }),
      stubProvider({ id: "other", base_url: other.url }),
      stubProvider({ id: "deaf", base_url: `https://127.0.0.1:${port}/v1` }),
    ],
    models: {
      stub: [
        stubModel({ id: "stub/plain", ...routes("stub", "other") }),
        stubModel({ id: "stub/thinker", reasons: true, ...routes("stub", "other") }),
        stubModel({ id: "stub/deaf", ...routes("deaf", "other") }),
        embeddingModel({ context_length: 2_000, prices_per_1m_usd: { input: "100.00", output: "0" } }),
      ],
    },
  });
  fleet = stack.use(
    await Fleet.start({
      services: null,
      inTest: true,
      catalogDir,
      environment: {
        [stubKeyEnv]: "sk-of-the-stub",
        CONNECT_TIMEOUT_MS: "500",
        FIRST_BYTE_TIMEOUT_MS: "1500",
        IDLE_TIMEOUT_MS: "1500",
        STREAM_DURATION_MS: "4000",
      },
    }),
  );
  await fleet.runnable(["stub/plain", "stub/thinker", "stub/embed"]);
}, 60_000);
afterAll(() => stack.disposeAsync());

let on: Customer;
let calls: number;
beforeEach(async () => {
  on = await fleet.operator().customer({ credit: "10", earlyAccess: ["embeddings"] });
  stub.answer(good);
  calls = stub.calls.length;
});

interface Asked {
  model?: string;
  streamed?: boolean;
  signal?: AbortSignal;
}

function ask({ model = "stub/plain", streamed = false, signal }: Asked = {}): Promise<Response> {
  return post(
    "chat/completions",
    { model, stream: streamed, max_tokens: 100, messages: [{ role: "user", content: "Hi" }] },
    signal,
  );
}

function post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  return fetch(`${fleet.url()}/gpt/v1/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${on.keys[0]?.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

const rows = (generations: number): Promise<LogRow[]> => expectExactLedger(fleet.operator(), on, { credit: "10", generations });

/** @returns the numbers of rows that are free, and that are charged for a prompt of one token and 100 of output */
async function freeAndCharged(generations: number): Promise<[number, number]> {
  const all = await rows(generations);
  const free = all.filter((row) => parseUsd(row.cost_usd) === 0n && !row.usage_estimated && row.prompt_tokens === 0);
  const full = all.filter((row) => row.usage_estimated && row.completion_tokens === 100 && row.prompt_tokens > 0);
  return [free.length, full.length];
}

/** Spends what the workspace has for nothing. */
async function useUpAllowance(): Promise<void> {
  stub.answer(hang);
  await Promise.all(Array.from({ length: 4 }, () => ask({ model: "stub/thinker", streamed: true })));
}

describe("a request that was sent and not answered in time", () => {
  test.each([
    ["a whole answer", { model: "stub/plain", streamed: false }],
    ["a stream of a model that can reason", { model: "stub/thinker", streamed: true }],
  ])(
    "is free until the workspace has had 0.05 USD of them, also if many time out at once: %s",
    async (_, asked) => {
      stub.answer(hang);
      const elsewhere = other.calls.length;
      const answers = await Promise.all(Array.from({ length: 7 }, () => ask(asked)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 504));
      expect(await freeAndCharged(7)).toEqual([4, 3]);
      expect((await rows(7)).every(({ status, code }) => status === 504 && code === "upstream_timeout")).toBe(true);
      // No second provider works on it as well.
      expect([stub.calls.length - calls, other.calls.length - elsewhere]).toEqual([7, 0]);
    },
    30_000,
  );

  test("is counted for each workspace, and shown in a metric", async () => {
    const unpaid = async () => {
      const metrics = await (await fleet.operator().send("/metrics")).text();
      return Number(/^weir_unpaid_usd_total\{provider="stub"\} (\S+)$/m.exec(metrics)?.[1] ?? 0);
    };
    const before = await unpaid();
    await useUpAllowance();
    on = await fleet.operator().customer({ credit: "10" });
    expect((await ask({ streamed: true })).status).toBe(504);
    expect(await freeAndCharged(1)).toEqual([1, 0]);
    expect((await unpaid()) - before).toBeWithin(0.04, 0.05);
  });

  test("is charged where the client has left: no timeout kept it from its answer", async () => {
    stub.answer(hang);
    const leaving = new AbortController();
    const left = ask({ signal: leaving.signal });
    left.catch(() => {});
    await stub.called(calls + 1);
    leaving.abort();
    expect(await freeAndCharged(1)).toEqual([0, 1]);
  }, 30_000);

  test("costs an embeddings request its inputs, beyond the same bound", async () => {
    stub.answer(hang);
    const embed = () => post("embeddings", { model: "stub/embed", input: Array.from({ length: 400 }, () => 1) });
    expect((await embed()).status).toBe(504);
    expect((await embed()).status).toBe(504);
    const [second, first] = await rows(2);
    expect([first?.cost_usd, second?.cost_usd]).toEqual(["0.000000000", "0.040000000"]);
    expect(second).toMatchObject({ status: 504, code: "upstream_timeout", usage_estimated: true, prompt_tokens: 400 });
  }, 30_000);
});

describe("a stream that falls silent after its first event", () => {
  const silentAfter = (text: string) => stream([chunk({ role: "assistant", content: text })], { end: "open" });

  test("costs what was delivered, and beyond the bound as much as leaving would", async () => {
    stub.answer(silentAfter("word"));
    await (await ask({ model: "stub/thinker", streamed: true })).text();
    expect(await rows(1)).toMatchObject([{ status: 200, code: "upstream_timeout", completion_tokens: 1 }]);
    await useUpAllowance();
    stub.answer(silentAfter("word"));
    await (await ask({ model: "stub/thinker", streamed: true })).text();
    const [last] = await rows(6);
    expect(last).toMatchObject({ status: 200, code: "upstream_timeout", completion_tokens: 100, usage_estimated: true });
  }, 30_000);

  test("costs what was delivered if the answer is complete and only its usage does not come, however much was unpaid", async () => {
    await useUpAllowance();
    stub.answer(stream([chunk({ role: "assistant", content: "word" }), chunk({}, "stop")], { end: "open" }));
    for (let answer = 0; answer < 2; answer++)
      expect(await (await ask({ model: "stub/thinker", streamed: true })).text()).toContain("[DONE]");
    const [second, first] = await rows(6);
    for (const row of [second, first]) expect(row).toMatchObject({ status: 200, completion_tokens: 1, usage_estimated: true });
  }, 30_000);

  test("costs one that thinks in silence from its beginning no less", async () => {
    await useUpAllowance();
    stub.answer(silent);
    expect((await ask({ model: "stub/thinker", streamed: true })).status).toBe(504);
    expect((await rows(5))[0]).toMatchObject({ code: "upstream_timeout", completion_tokens: 100 });
  }, 30_000);
});

test("a request whose provider takes no connection is free, is no unpaid work, and is tried elsewhere", async () => {
  await until(async () => {
    const response = await fetch(`${fleet.url()}/gpt/v1/models/stub/deaf`, {
      headers: { authorization: `Bearer ${on.keys[0]?.key}` },
    });
    return ((await response.json()) as { runnable?: boolean }).runnable === true;
  });
  other.answer(chat("From elsewhere"));
  expect(await (await ask({ model: "stub/deaf" })).json()).toMatchObject({
    choices: [{ message: { content: "From elsewhere" } }],
  });
  expect(await rows(1)).toMatchObject([{ provider: "other", usage_estimated: false }]);
});

/** A worker prices the candidates that a gateway names, by its own catalog. */
import { describe, expect, test } from "bun:test";
import type { AdmissionReply, CandidateList } from "../../../../src/gateway/admission/message.ts";
import type { Model, Route } from "../../../../src/gateway/models/model.ts";
import { parsePricePerMillion } from "../../../../src/kernel/money.ts";
import { admitRequest, AdmissionWorker } from "../../../support/gateway/admission-worker.ts";
import { ownKey } from "../../../support/gateway/own-keys.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { route } from "../../../support/providers/routes.ts";

function routeAt(provider: string, input: string, output: string): Route {
  const prices = { input: parsePricePerMillion(input), output: parsePricePerMillion(output) };
  return {
    ...route(provider),
    prices: { ...prices, cacheRead: prices.input, cacheWrite: prices.input },
    hiddenInputTokens: 0,
  };
}

const one = chatModel([], { id: "acme/one", routes: [routeAt("A", "1", "2"), routeAt("B", "0.5", "3"), routeAt("C", "2", "2")] });
const two = chatModel([], { id: "acme/two", routes: [routeAt("A", "1", "9")], maxOutputTokens: 20 });
const coming = chatModel([], { id: "acme/coming", routes: [] });

function workerWith(models: Model[], unusable: string[] = []): AdmissionWorker {
  const worker = new AdmissionWorker();
  worker.models.find = (id) => models.find((model) => model.id === id) ?? null;
  worker.models.usableRoutes = ({ routes }) => {
    const usable = routes.filter(({ provider }) => !unusable.includes(provider.id));
    return usable.length > 0 ? { routes: usable, reason: null } : { routes: [], reason: "launch_check_failed" };
  };
  return worker;
}

/** 100 tokens in, at most 100 out. */
async function ask(worker: AdmissionWorker, candidates: CandidateList, fields = {}): Promise<AdmissionReply | undefined> {
  const [reply] = await worker.replies(admitRequest({ inputTokens: 100, maxTokens: 100, candidates, ...fields }));
  return reply;
}

describe("a routed admission", () => {
  test("the amount is the maximum over the named candidates, and the reply names what it covers", async () => {
    const worker = workerWith([one, two]);
    expect(await ask(worker, [["acme/one", "A"]])).toMatchObject({ amount: "300000", maxOutputTokens: 100, priced: [0] });
    expect(await ask(worker, [["acme/one", "C", "A", "B"]])).toMatchObject({ amount: "400000", priced: [0, 1, 2] });
  });

  test("without max_tokens the estimate decides what a long prompt is asked for, and its bytes still count in full", async () => {
    const cheap = { routes: [routeAt("A", "0.1", "0.2")] };
    const tight = { ...one, ...cheap, id: "acme/tight", contextLength: 500, maxOutputTokens: 400 };
    const wide = { ...one, ...cheap, id: "acme/wide" };
    const long = { inputTokens: 300, promptTokens: 100, maxTokens: null };
    const held = { amount: String(300 * 100 + 375 * 200), maxOutputTokens: 375 };
    const worker = workerWith([tight, wide]);
    expect(await ask(worker, [["acme/tight", "A"]], long)).toMatchObject(held);
    const [unrouted] = await worker.replies(admitRequest({ ...long, model: "acme/tight" }));
    expect(unrouted).toMatchObject(held);
    const both: CandidateList = [
      ["acme/tight", "A"],
      ["acme/wide", "A"],
    ];
    const dearest = { amount: String(300 * 100 + 4_096 * 200), maxOutputTokens: 4_096 };
    expect(await ask(workerWith([tight, wide]), both, long)).toMatchObject(dearest);
  });

  test("without max_tokens each model is priced with its own maximum, and the bound is the largest", async () => {
    const reply = await ask(
      workerWith([one, two]),
      [
        ["acme/two", "A"],
        ["acme/one", "A"],
      ],
      { inputTokens: 0, maxTokens: null },
    );
    expect(reply).toMatchObject({ kind: "refused", code: "insufficient_credit" });
    const small = { ...one, maxOutputTokens: 30 };
    const other = await ask(
      workerWith([small, two]),
      [
        ["acme/two", "A"],
        ["acme/one", "A"],
      ],
      { inputTokens: 0, maxTokens: null },
    );
    expect(other).toMatchObject({ amount: String(20 * 9_000), maxOutputTokens: 30, priced: [0, 1] });
  });

  test("candidates that the worker's catalog does not have or cannot use are not covered", async () => {
    const list: CandidateList = [
      ["acme/one", "A", "X", "C"],
      ["acme/new", "A"],
      ["acme/two", "A"],
    ];
    expect(await ask(workerWith([one, two], ["C"]), list)).toMatchObject({
      amount: String(100 * 1_000 + 100 * 2_000),
      priced: [0, 4],
    });
  });

  test("where no candidate is left, the first model's reason is answered", async () => {
    const list: CandidateList = [
      ["acme/one", "A"],
      ["acme/two", "A"],
    ];
    const refused = { kind: "refused", code: "model_unavailable", reason: "launch_check_failed" };
    expect(await ask(workerWith([one, two], ["A"]), list)).toMatchObject(refused);
    expect(await ask(workerWith([coming]), [["acme/coming"]])).toMatchObject(refused);
    expect(await ask(workerWith([]), list)).toMatchObject({ kind: "refused", code: "model_not_found" });
  });

  test("a named own key costs nothing, and a provider without one serves on credit only where the workspace allows it", async () => {
    const routes = one.routes.map((some) => ({ ...some, provider: { ...some.provider, keyEnv: "KEY" } }));
    const worker = workerWith([{ ...one, routes }]);
    const ownKeys = [ownKey({ provider: "B" })];
    const own = worker.addKey("own", { ownKeys });
    const fallback = worker.addKey("fallback", { ownKeys, ownKeyFallback: true });
    const named = { ownKeys: ownKeys.map(({ id }) => id) };
    const list: CandidateList = [["acme/one", "B", "C"]];
    expect(await ask(worker, list, { hash: own, ...named })).toMatchObject({ amount: "0", priced: [0] });
    expect(await ask(worker, list, { hash: fallback, ...named })).toMatchObject({ amount: "400000", priced: [0, 1] });
    expect(await ask(worker, [["acme/one", "A"]], { hash: own, ...named })).toMatchObject({ reason: "own_key_elsewhere" });
    expect(await ask(worker, list, { hash: own })).toMatchObject({ amount: "400000", priced: [0, 1] });
  });

  test("the message of a 402 names the dearest candidate and how many output tokens are affordable", async () => {
    const worker = workerWith([one, two]);
    const reply = await ask(worker, [["acme/one", "A", "C"]], { inputTokens: 400_000, maxTokens: 1_000 });
    expect(reply).toMatchObject({ kind: "refused", code: "insufficient_credit" });
    expect(reply?.kind === "refused" && reply.message).toStartWith(
      "There is not enough credit: this request may cost up to 0.258000000 USD with C/acme/one, its dearest candidate, and 0.001000000 USD are available",
    );
    const key = worker.addKey("limited", { monthlyLimit: 300_000n });
    const limited = await ask(worker, [["acme/one", "A", "C"]], { hash: key });
    expect(limited?.kind === "refused" && limited.message).toBe(
      "The request would pass this key's monthly spend limit: it may cost up to 0.000400000 USD with C/acme/one, its dearest " +
        "candidate, and 0.000300000 USD are left, enough for max_tokens up to 50",
    );
  });

  test("a request without candidates is answered as before", async () => {
    const [reply] = await workerWith([one]).replies(admitRequest());
    expect(reply).not.toHaveProperty("priced");
  });
});

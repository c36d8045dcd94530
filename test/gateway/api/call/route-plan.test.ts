/** From a request's routing fields to the list that admission prices, and to the candidates that may be called. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { RefusedError } from "../../../../src/gateway/admission/client.ts";
import { encodeRequest } from "../../../../src/gateway/admission/message.ts";
import {
  admissionFacts,
  admittedCandidates,
  planRoute,
  type RoutePlan,
  type Candidates,
} from "../../../../src/gateway/api/call/route-plan.ts";
import type { CheckedChat } from "../../../../src/gateway/api/request/chat-request.ts";
import { RouteCoolDown } from "../../../../src/gateway/models/route-health.ts";
import type { Model } from "../../../../src/gateway/models/model.ts";
import type { RoutingRules } from "../../../../src/gateway/models/candidate-order.ts";
import type { ProviderAnswer, UpstreamCode } from "../../../../src/gateway/providers/provider.ts";
import { ManualClock, settled } from "../../../support/clock.ts";
import { failureOf } from "../../../support/failure-of.ts";
import { failure, given, whole } from "../../../support/gateway/given-dispatch.ts";
import { ownKey } from "../../../support/gateway/own-keys.ts";
import { caller, ScriptedAdmission } from "../../../support/gateway/scripted-admission.ts";
import { candidate } from "../../../support/providers/candidates.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { route } from "../../../support/providers/routes.ts";

const rules: RoutingRules = { order: [], only: null, ignore: new Set(), sort: null };

function chatFor(ids: string[], fields: Partial<RoutingRules> = {}): CheckedChat {
  const body = { model: ids[0] ?? "", messages: [] };
  const models = ids.map((id, index) => ({ id, field: index === 0 ? "model" : `models[${index - 1}]` }));
  return {
    body,
    model: body.model,
    requested: body.model,
    streamed: false,
    includeUsage: false,
    includeCost: false,
    maxTokens: 9_999_999,
    tools: false,
    inputTokens: 8_400_000,
    promptEstimate: () => 1,
    routing: { rules: { ...rules, ...fields }, models, bodies: new Map() },
  };
}

function viewOf(models: Model[], unusable: string[] = []) {
  return {
    readable: () => true,
    find: (id: string) => models.find((model) => model.id === id) ?? null,
    usableRoutes({ routes }: Model) {
      return { routes: routes.filter(({ provider }) => !unusable.includes(provider.id)), reason: null };
    },
  };
}

const planned = (chat: CheckedChat, models: Model[], unusable: string[] = []): RoutePlan | null =>
  planRoute(chat, { caller, models: viewOf(models, unusable), measure: () => null });
const names = (plan: RoutePlan | null) => plan?.candidates.map(({ model, route: { provider } }) => `${model.id} ${provider.id}`);
const one = chatModel([], { id: "acme/one", routes: ["A", "B"].map((id) => route(id)) });
const keyable = chatModel([], { id: "acme/one", routes: ["A", "B"].map((id) => route(id, { keyEnv: "KEY" })) });
const two = chatModel([], { id: "acme/two", routes: ["A", "C"].map((id) => route(id)) });

describe("the plan of a request", () => {
  test("it lists the usable candidates by model in their order", () => {
    const plan = planned(chatFor(["acme/one", "acme/two"], { order: ["B", "C"] }), [one, two], ["A"]);
    expect(names(plan)).toEqual(["acme/one B", "acme/two C"]);
    expect(plan?.list).toEqual([
      ["acme/one", "B"],
      ["acme/two", "C"],
    ]);
  });

  test("a later model serves where no route of the first is usable", () => {
    expect(names(planned(chatFor(["acme/one", "acme/two"]), [one, two], ["A", "B"]))).toEqual(["acme/two C"]);
  });

  test("where nothing is usable admission is asked about the permitted routes, so that it gives the reason", () => {
    const plan = planned(chatFor(["acme/one"], { only: new Set(["B"]) }), [one], ["A", "B"]);
    expect(plan).toEqual({ candidates: [], list: [["acme/one", "B"]] });
  });

  test("where the workspace has an own key for the model, no rule lets another provider serve on credit", () => {
    const ownKeys = [ownKey({ provider: "B" })];
    const plan = (ownKeyFallback: boolean, only: string) =>
      names(
        planRoute(chatFor(["acme/one"], { only: new Set([only]) }), {
          caller: { ...caller, record: { ...caller.record, ownKeys, ownKeyFallback } },
          models: viewOf([keyable]),
          measure: () => null,
        }),
      );
    expect(plan(false, "A")).toEqual([]);
    expect(plan(false, "B")).toEqual(["acme/one B"]);
    expect(plan(true, "A")).toEqual(["acme/one A"]);
  });

  test("a request names at most 16 candidates, those that come first", () => {
    const wide = chatModel([], { id: "acme/wide", routes: Array.from({ length: 20 }, (_, index) => route(`p${index}`)) });
    const plan = planned(chatFor(["acme/wide", "acme/one"]), [wide, one]);
    expect(plan?.list).toEqual([["acme/wide", ...Array.from({ length: 16 }, (_, index) => `p${index}`)]]);
    expect(plan?.candidates.length).toBe(16);
  });

  test("the message to admission stays under 1 KiB for the longest ids, and lists exactly the candidates that may be called", () => {
    const id = (length: number, index: number) => `${index}/${"m".repeat(length - 2)}`;
    const longest = { min: 3, max: 200 };
    fc.assert(
      fc.property(
        fc.array(fc.record({ length: fc.integer(longest), routes: fc.integer({ min: 1, max: 20 }) }), {
          minLength: 1,
          maxLength: 9,
        }),
        fc.integer({ min: 1, max: 64 }),
        (models, width) => {
          const catalog = models.map(({ length, routes }, index) =>
            chatModel([], {
              id: id(length, index),
              routes: Array.from({ length: routes }, (_, n) => route(String(n).padEnd(Math.max(2, width), "p"))),
            }),
          );
          const chat = chatFor(catalog.map((model) => model.id));
          const plan = planned(chat, catalog);
          const facts = admissionFacts(chat, plan);
          const ids = { generation: `gen-${"a".repeat(26)}`, hash: "f".repeat(64), fingerprint: "f".repeat(16) };
          const message = encodeRequest({ kind: "admit", ...ids, ...facts, deadline: 1_790_000_000_000 });
          expect(message.bytes).toBeLessThanOrEqual(1_024);
          expect(plan?.candidates.length).toBeGreaterThan(0);
          expect(plan?.list.flatMap(([model, ...providers]) => providers.map((provider) => `${model} ${provider}`))).toEqual(
            names(plan) ?? [],
          );
        },
      ),
    );
  });

  test("the first model that the catalog does not have is the one that admission refuses, by its place in the request", async () => {
    const chat = chatFor(["acme/one", "acme/two", "x/first", "x/second"]);
    const admission = new ScriptedAdmission();
    admission.admit = ({ model }) => ({ kind: "refused", code: "model_not_found", param: "model", message: `no ${model}` });
    const facts = admissionFacts(chat, planned(chat, [one, two]));
    const error = await failureOf(admission.client.admit(caller, facts));
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ code: "model_not_found", param: "models[1]", message: "no x/first" });
  });
});

describe("after admission", () => {
  const chat = chatFor(["acme/one", "acme/two"]);
  const plan = planned(chat, [one, two]);
  const called = (priced: number[] | null): string | undefined =>
    admittedCandidates(
      { chat, caller, plan, priced, amount: 1n },
      { models: viewOf([one, two]), coolDown: new RouteCoolDown(new ManualClock()) },
    )
      ?.map(({ model, route: { provider } }) => `${model.id} ${provider.id}`)
      .join();

  test("only the candidates that the worker priced may be called", () => {
    expect(called([0, 1, 2, 3])).toBe("acme/one A,acme/one B,acme/two A,acme/two C");
    expect(called([1, 2])).toBe("acme/one B,acme/two A");
    expect(called([])).toBeUndefined();
  });

  test("with own keys, candidates on credit that the reservation does not cover are not called", () => {
    const ownKeys = [ownKey({ provider: "B" })];
    const keyed = { ...caller, record: { ...caller.record, ownKeys, ownKeyFallback: true } };
    const models = viewOf([keyable]);
    const request = chatFor(["acme/one"]);
    const keyedPlan = planRoute(request, { caller: keyed, models, measure: () => null });
    const covered = (amount: bigint) =>
      admittedCandidates(
        { chat: request, caller: keyed, plan: keyedPlan, priced: [0, 1], amount },
        { models, coolDown: new RouteCoolDown(new ManualClock()) },
      )?.map(({ route: { provider, ownKey: own } }) => provider.id + (own ? " own" : ""));
    expect(covered(0n)).toEqual(["B own"]);
    expect(covered(10n ** 18n)).toEqual(["B own", "A"]);
  });

  test("a request without routing fields names no candidates", async () => {
    const admission = new ScriptedAdmission();
    const { routing, ...plain } = chat;
    expect(routing).toBeDefined();
    await admission.client.admit(caller, admissionFacts(plain, planned(plain, [one])));
    const [sent] = admission.received("admit");
    const fields = ["kind", "generation", "hash", "model", "inputTokens", "maxTokens", "tools", "deadline", "fingerprint"];
    expect(Object.keys(sent ?? {})).toEqual(fields);
  });
});

describe("the retry of a request for several models", () => {
  const inOne = ["A", "B"].map((id) => candidate(id));
  const inTwo = ["A", "B"].map((id) => candidate(id, {}, { id: "acme/two" }));
  const [oneAtA, oneAtB, twoAtA, twoAtB] = [...inOne, ...inTwo];
  if (!oneAtA || !oneAtB || !twoAtA || !twoAtB) throw new Error("The test has four candidates");

  test.each<[UpstreamCode, string, Candidates, string[]]>([
    ["upstream_error", "the next candidate", [oneAtA, twoAtA, twoAtB], ["A", "A acme/two"]],
    ["upstream_error", "the same without another", [oneAtA], ["A", "A"]],
    [
      "upstream_rate_limited",
      "the next provider, even if another model comes first",
      [oneAtA, twoAtA, twoAtB],
      ["A", "B acme/two"],
    ],
    ["upstream_rate_limited", "the next model where one provider has all", [oneAtA, twoAtA], ["A", "A acme/two"]],
    ["upstream_rate_limited", "nothing for a sole candidate", [oneAtA], ["A"]],
    ["upstream_auth", "the next provider", [oneAtA, twoAtA, oneAtB], ["A", "B"]],
    ["upstream_auth", "nothing where one provider has all", [oneAtA, twoAtA], ["A"]],
    ["upstream_timeout", "the next provider", [oneAtA, twoAtA, twoAtB], ["A", "B acme/two"]],
    ["upstream_timeout", "nothing where one provider has all", [oneAtA, twoAtA], ["A"]],
    ["upstream_rejected", "nothing", [oneAtA, oneAtB, twoAtA], ["A"]],
  ])("after %s dispatch tries %s", async (code, _, candidates, expected) => {
    const { outcome, called } = given([failure(code), whole], { candidates });
    expect((await outcome).kind).toBe(expected.length === 2 ? "whole" : "failed");
    expect(called).toEqual(expected);
  });

  test("dispatch makes two calls at most, however many candidates there are", async () => {
    const failures = Array.from({ length: 4 }, () => failure("upstream_error"));
    const { outcome, called } = given(failures, { candidates: [oneAtA, oneAtB, twoAtA, twoAtB] });
    expect(await outcome).toMatchObject({ kind: "failed", candidate: oneAtB });
    expect(called).toEqual(["A", "B"]);
  });

  test("with fallbacks off a later model does not serve after a failure", async () => {
    const { outcome, called } = given([failure("upstream_error"), whole], { candidates: [oneAtA, twoAtB], fallbacks: false });
    expect((await outcome).kind).toBe("failed");
    expect(called).toEqual(["A"]);
  });

  test("dispatch reports each failed call with its time", async () => {
    let reject = (_: Error): void => {};
    const late = new Promise<ProviderAnswer>((_, rejectLate) => (reject = rejectLate));
    const { outcome, clock } = given([late, whole], { candidates: [oneAtA, twoAtB] });
    await settled();
    await clock.pass(70);
    reject(failure("upstream_error"));
    expect((await outcome).failed).toMatchObject([{ candidate: oneAtA, ms: 70, failure: { code: "upstream_error" } }]);
  });
});

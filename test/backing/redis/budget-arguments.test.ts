/** Workspaces without budgets pay nothing for them: the arguments of the functions do not change. */
import { expect, test } from "bun:test";
import type { AdmitRequest, Budget, ResolveBatch } from "../../../src/backing/counters.ts";
import { admissionValues, placedByWorkspace, resolveValues, resolveRounds } from "../../../src/backing/redis/calls.ts";

const request: AdmitRequest = {
  generation: "gen-1",
  workspace: "w1",
  key: "k1",
  fingerprint: "f00d",
  requestsPerMinute: 60,
  amount: 10n,
  keyLimit: null,
  workspaceLimit: null,
  modelRefusal: null,
  deadline: null,
};
const budget: Budget = { name: "day:k1", period: "day", limit: 5n, refusal: "key_spend_limit_exceeded" };
const month = "2026-11";
const account = { workspace: "w1", balance: 1n, sequence: 1n, months: [{ month, spent: 0n }] };
const release = {
  resolve: [{ workspace: "w1", generation: "gen-1", as: "settled" as const }],
  accounts: [account],
  keyMonths: [],
};

/** The arguments of one call: its texts, and its numbers as bytes hold them. */
function argumentsOf([texts, numbers]: (string | Buffer)[]): { texts: string[]; numbers: number } {
  return { texts: String(texts).split("\0").slice(0, -1), numbers: (numbers?.length ?? 0) / 8 };
}

const admitting = (...requests: AdmitRequest[]) =>
  argumentsOf(admissionValues({ month, day: 0 }, [...placedByWorkspace(requests)], { run: 1 }));
const resolving = (batch: ResolveBatch) => argumentsOf(resolveValues([...(resolveRounds(batch)[0]?.values() ?? [])]));

test("an admission without budgets names no field of them and sends eight numbers, two for its workspace and seven for itself", () => {
  expect(admitting(request)).toEqual({
    texts: ["{w1}", "head", "m:2026-11", "lending", "gen-1", "n:k1", "k:k1:2026-11", "f00d"],
    numbers: 8 + 2 + 7,
  });
});

test("a budget adds a field, and numbers to the requests of its workspace alone", () => {
  const elsewhere = { ...request, workspace: "w2" };
  const plain = admitting(request, elsewhere);
  const budgeted = admitting({ ...request, budgets: [budget] }, elsewhere);
  expect(budgeted.texts.filter((text) => !plain.texts.includes(text))).toEqual(["b:day:k1"]);
  expect(budgeted.numbers - plain.numbers).toBe(1 + 2 + 1 + 2);
});

test("a release and a push without budgets name no field of them", () => {
  const plain = resolving(release);
  expect(plain).toEqual({ texts: ["{w1}", "head", "gen-1", "m:2026-11", "2026-10"], numbers: 5 + 4 + 1 + 4 });
  const budgets = [{ workspace: "w1", name: "day:k1", since: 0, spent: 0n, sequence: 1n }];
  expect(resolving({ ...release, budgets }).texts.filter((text) => !plain.texts.includes(text))).toEqual(["b:day:k1"]);
});

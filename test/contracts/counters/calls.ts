/** Short helpers for the contract of the counters. Amounts are small, since their unit does not matter here. */
import type { AdmitReply, AdmitRequest, Counters, Hold, Resolution } from "../../../src/backing/counters.ts";
import { monthOf } from "../../../src/kernel/clock.ts";
import type { CountersHarness } from "../../support/counters/harness.ts";

export const thisMonth = "2026-11";
export const nextMonth = "2026-12";

let generations = 0;

export function newGeneration(): string {
  return `gen-${++generations}`;
}

/** A request that costs 10 of workspace w1's credit, by key k1, without limits. */
export function request(change: Partial<AdmitRequest> = {}): AdmitRequest {
  return {
    generation: newGeneration(),
    workspace: "w1",
    key: "k1",
    fingerprint: "f00d",
    requestsPerMinute: 60,
    amount: 10n,
    keyLimit: null,
    workspaceLimit: null,
    modelRefusal: null,
    deadline: null,
    ...change,
  };
}

export async function admitAll(
  harness: CountersHarness,
  requests: AdmitRequest[],
  month = monthOf(harness.now()),
): Promise<AdmitReply[]> {
  const { now, replies } = await harness.counters.admitMany({ month, requests });
  if (now !== harness.now()) throw new Error(`The store's clock is ${harness.now()}, but the reply has ${now}`);
  return replies;
}

export async function admit(harness: CountersHarness, change: Partial<AdmitRequest> = {}, month?: string): Promise<AdmitReply> {
  const [reply] = await admitAll(harness, [request(change)], month);
  if (!reply) throw new Error("There is no reply");
  return reply;
}

/** Sends this many equal requests, one batch each, and returns their outcomes. */
export async function outcomes(harness: CountersHarness, count: number, change: Partial<AdmitRequest> = {}): Promise<string[]> {
  const seen: string[] = [];
  for (let index = 0; index < count; index++) seen.push((await admit(harness, change)).outcome);
  return seen;
}

/** Loads a workspace and the key k1 for the month of the store's clock. */
export async function makeReady(
  harness: CountersHarness,
  { workspace = "w1", balance = 1_000n, sequence = 1n, spent = 0n, keySpent = 0n } = {},
): Promise<void> {
  const month = monthOf(harness.now());
  await harness.counters.load({ account: { workspace, balance, sequence, months: [{ month, spent }] }, holds: [], windows: [] });
  await pushKey(harness.counters, { workspace, month, spent: keySpent });
}

export async function pushKey(
  counters: Counters,
  { workspace = "w1", key = "k1", month = thisMonth, spent = 0n, version = 1n, sequence = 1_000n },
) {
  await counters.resolveMany({ resolve: [], accounts: [], keyMonths: [{ workspace, key, month, spent, version, sequence }] });
}

export async function pushAccount(
  counters: Counters,
  { workspace = "w1", balance = 0n, sequence = 0n, month = thisMonth, spent = 0n },
) {
  await counters.resolveMany({
    resolve: [],
    accounts: [{ workspace, balance, sequence, months: [{ month, spent }] }],
    keyMonths: [],
  });
}

/** @returns the freed amount */
export async function resolve(counters: Counters, generation: string, as: Resolution = "settled"): Promise<bigint> {
  const [freed] = await counters.resolveMany({ resolve: [{ workspace: "w1", generation, as }], accounts: [], keyMonths: [] });
  return freed ?? -1n;
}

export function hold(harness: CountersHarness, change: Partial<Hold> = {}): Hold {
  const admittedAt = harness.now() - 1_000;
  return {
    generation: newGeneration(),
    fingerprint: "f00d",
    amount: 10n,
    key: "k1",
    month: thisMonth,
    admittedAt,
    deadline: admittedAt + 1_200_000,
    ...change,
  };
}

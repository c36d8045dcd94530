/** Compares the notes of clients and provider with the ledger, and counts what was lost, doubled or unmetered. */
import type { Episode } from "../faults/episode.ts";
import { costOf, firstModel, type ProviderCall } from "../world/provider.ts";
import { claimsOf } from "./build-history.ts";
import type { RunNotes } from "./notes.ts";
import type { Stored, StoredCharge } from "./stored.ts";

export interface Tally {
  /** Reserved by the counters, whether a provider was called or not. */
  admitted: number;
  charged: number;
  /** Generations that another model answered, after the provider of the first had failed. */
  rerouted: number;
  /** Ended in the ledger without a charge, because the gateway with the usage died. The documents allow this. */
  unknown: number;
  /** Generations that a provider billed, or that a client got in full, without a charge. */
  lost: string[];
  /** Workspaces whose ledger charges more than their generations cost, credit that was added twice, and idempotency keys charged twice. */
  doubled: string[];
  /** Provider calls without a reservation in the counters, or without an end in the ledger. */
  unmetered: string[];
  /** Confirmed credit that is not in the ledger. */
  missingCredit: string[];
}

export function tallyOf(notes: RunNotes, { charges, entries, held }: Stored): Tally {
  const byGeneration = new Map(charges.map((charge) => [charge.generation, charge]));
  const calls = notes.provider.filter(({ call }) => call !== null);
  const wholes = notes.clients.flatMap(({ whole, generation }) => (whole && generation !== null ? [generation] : []));
  const unpaid = wholes.filter((generation) => !isPaid(byGeneration.get(generation)));
  const billed = calls.filter((call) => isLost(call, byGeneration.get(call.generation), notes.episodes));
  const references = entries.flatMap(({ kind, workspace, reference }) =>
    kind === "credit" ? [`${workspace} ${reference}`] : [],
  );
  const present = new Set(references);
  const isHeld = (generation: string): boolean => held.has(generation) || held.has(notes.blocks.get(generation) ?? "");
  return {
    admitted: held.size,
    charged: charges.filter(({ cost }) => cost > 0n).length,
    rerouted: reroutedOf(calls),
    unknown: charges.filter(({ outcome }) => outcome !== "settled").length,
    lost: [...new Set([...unpaid, ...billed.map(({ generation }) => generation)])],
    doubled: [...repeated(references), ...chargedTwice({ charges, entries }), ...keysChargedTwice(charges, claimsOf(notes))],
    unmetered: calls
      .filter((call) => !byGeneration.has(call.generation) || !(isHeld(call.generation) || mayBeForgotten(call, notes.episodes)))
      .map(({ generation }) => generation),
    missingCredit: notes.topUps
      .map(({ workspace, reference }) => `${workspace} ${reference}`)
      .filter((name) => !present.has(name)),
  };
}

function reroutedOf(calls: readonly ProviderCall[]): number {
  const failed = new Set(
    calls.flatMap(({ model, state, generation }) => (model === firstModel && state === "failed" ? [generation] : [])),
  );
  const elsewhere = calls.filter(
    ({ model, state, generation }) => model !== firstModel && state === "answered" && failed.has(generation),
  );
  return new Set(elsewhere.map(({ generation }) => generation)).size;
}

/** Several requests may have called a provider for one key. Only one of them may cost anything. */
function keysChargedTwice(charges: readonly StoredCharge[], claims: ReadonlyMap<string, string>): string[] {
  return repeated(charges.flatMap(({ generation, cost }) => (cost > 0n ? (claims.get(generation) ?? []) : [])));
}

function chargedTwice({ charges, entries }: Pick<Stored, "charges" | "entries">): string[] {
  const owed = new Map<string, bigint>();
  for (const { workspace, cost } of charges) owed.set(workspace, (owed.get(workspace) ?? 0n) + cost);
  for (const { kind, workspace, amount } of entries) {
    if (kind === "charge") owed.set(workspace, (owed.get(workspace) ?? 0n) + amount);
  }
  return [...owed].flatMap(([workspace, rest]) => (rest < 0n ? [workspace] : []));
}

/** One line for each kind of problem. */
export function moneyLines({ lost, doubled, unmetered, missingCredit }: Tally): string[] {
  const named = { lost, doubled, unmetered, "confirmed credit that is missing": missingCredit };
  return Object.entries(named).flatMap(([name, whose]) => (whose.length === 0 ? [] : [`${name}: ${whose.join(", ")}`]));
}

/** By the workspace, by itself to its provider, or by the service, as the second answer for one idempotency key. */
function isPaid(charge: StoredCharge | undefined): boolean {
  return charge !== undefined && (charge.cost > 0n || charge.ownKey !== null || charge.excess > 0n);
}

/** A client that hung up before it got anything pays nothing: its call was cancelled, although too late for this provider. */
const clientGone = "client_gone";

/** Billed and ended without a charge, although its gateway did not die. A call without any record counts as unmetered. */
function isLost(call: ProviderCall, charge: StoredCharge | undefined, episodes: readonly Episode[]): boolean {
  if (costOf(call) === null || charge === undefined || isPaid(charge) || charge.code === clientGone) return false;
  const { startedAt, endedAt } = call;
  const died = episodes.some(({ faults, injectedAt, healedAt }) => {
    const within = startedAt <= healedAt && (endedAt ?? Infinity) >= injectedAt - recordedMsMax;
    return within && faults.some((fault) => fault.kind === "kill" && fault.who.startsWith("gateway"));
  });
  return !(died && charge.outcome === "unknown");
}

/**
 * A hold may be in no file: on a busy disk Redis may answer up to two seconds before it writes, and a master whose place a replica took
 * drops what it decided before it knew.
 */
function mayBeForgotten({ startedAt }: ProviderCall, episodes: readonly Episode[]): boolean {
  return episodes.some(({ faults, injectedAt, healedAt }) => {
    const isNear = (afterMs: number) => startedAt > injectedAt - writtenMsMax && startedAt < healedAt + afterMs;
    return faults.some((fault) => {
      if (fault.kind === "kill" && fault.who === "redis") return isNear(0);
      return "who" in fault && fault.who?.startsWith("redis-master-") === true && isNear(replacedMsMax);
    });
  });
}

const writtenMsMax = 3_000;

/** A cluster may still replace a master a few seconds after it can be reached again. */
const replacedMsMax = 5_000;

/** From the last byte that a provider wrote to its gateway's record of it. */
const recordedMsMax = 1_000;

function repeated(names: string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 1).map(([name]) => name);
}

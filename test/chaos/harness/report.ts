/** The report of a run: a few lines for people, and everything in JSON. */
import { describeFault, type Fault } from "./faults/fault.ts";
import type { ClientCall } from "./load/client-call.ts";
import type { RestartsResult } from "./restarts-on-one-port.ts";
import type { RollingResult } from "./rolling-restart.ts";
import type { RunResult } from "./run-chaos.ts";

const violationsShown = 20;

export function summaryOf(result: RunResult): string[] {
  const { tally, violations, notes, seed, recoveries, skipped, results } = result;
  const { lost, doubled, unmetered, unknown, admitted, charged, rerouted } = tally;
  const steady = recoveries.map(({ recovery }) => recovery.steadyMs ?? Infinity);
  const worst = `worst recovery to steady answers ${seconds(Math.max(0, ...steady))}, quiet after ${seconds(notes.quiet.afterMs)}`;
  return [
    ``,
    `seed ${seed} (it determines faults and requests, not how real processes interleave)`,
    `faults injected: ${faultsOf(result).length} (${shown(faultsByKind(result))})`,
    ...skipped.map((what) => `skipped: ${what}`),
    `requests sent ${notes.clients.length}, admitted ${admitted}, charged ${charged}, by another model ${rerouted}, unknown since their gateway died ${unknown}`,
    `answers: ${shown(answersByCode(notes.clients))}`,
    `invariants checked: ${results.map(({ id, checks }) => `${id} ${checks}`).join(", ")}`,
    `lost ${lost.length}, doubled ${doubled.length}, unmetered ${unmetered.length}; ${worst}`,
    ...shownViolations(violations),
  ];
}

export function rollingSummaryOf({ calls, endedAfterMs, tally, violations }: RollingResult): string[] {
  return [
    ``,
    `gateways restarted: ${endedAfterMs.length}, each ended within ${seconds(Math.max(...endedAfterMs))} of its signal`,
    `requests sent ${calls}, charged ${tally.charged}, unknown ${tally.unknown}`,
    ...shownViolations(violations),
  ];
}

export function restartsSummaryOf({ opened, answered, repeated, violations }: RestartsResult): string[] {
  return [
    ``,
    `connections opened ${opened}, answered ${answered}, opened with a second SYN ${repeated}, lost ${opened - answered}`,
    ...shownViolations(violations),
  ];
}

function shownViolations(violations: readonly string[]): string[] {
  return [`violations: ${violations.length}`, ...violations.slice(0, violationsShown).map((violation) => `  ${violation}`)];
}

export function reportOf(result: RunResult): unknown {
  const { seed, tally, violations, recoveries, notes, skipped, results } = result;
  return plain({
    seed,
    faults: faultsByKind(result),
    skipped,
    sent: notes.clients.length,
    answers: answersByCode(notes.clients),
    ...tally,
    quiet: notes.quiet,
    invariants: results,
    episodes: recoveries.map(({ episode, recovery }) => ({
      names: episode.faults.map(describeFault),
      ...episode,
      ...recovery,
      answers: answersByCode(notes.clients.filter((call) => call.isPlenty && isWithin(call.sentAt, episode))),
    })),
    violations,
    logs: violations.length === 0 ? {} : result.logs,
    admissions: violations.length === 0 ? [] : admissionsOf(result),
    concerned: violations.flatMap(generationsIn).map((generation) => historyOf(generation, result)),
  });
}

/** The admissions in order, each with its gateway: the facts by which windows and holds are checked. */
function admissionsOf({ notes, stored }: RunResult): string[] {
  const gateways = new Map(notes.clients.map(({ generation, gateway }) => [generation, gateway + 1]));
  return stored.charges
    .toSorted((a, b) => a.admittedAt - b.admittedAt)
    .map(({ generation, key, admittedAt, reserved }) => {
      return `${admittedAt} ${key} ${generation} ${reserved} gateway-${gateways.get(generation) ?? "?"}`;
    });
}

function generationsIn(violation: string): string[] {
  return [...new Set(violation.match(/gen-[a-z2-7]{26}/g) ?? [])];
}

/** All facts about a generation, and the faults near its time. */
function historyOf(generation: string, { notes, stored }: RunResult): unknown {
  const provider = notes.provider.filter((call) => call.generation === generation);
  const clients = notes.clients.filter((call) => call.generation === generation);
  const charges = stored.charges.filter((charge) => charge.generation === generation);
  const times = [...provider.map(({ startedAt }) => startedAt), ...charges.map(({ admittedAt }) => admittedAt)];
  const episodes = notes.episodes.filter((episode) => times.some((at) => isNear(at, episode)));
  return { generation, provider, clients, charges, episodes };
}

const nearMs = 10_000;

function isNear(at: number, { injectedAt, healedAt }: { injectedAt: number; healedAt: number }): boolean {
  return at > injectedAt - nearMs && at < healedAt + nearMs;
}

function faultsOf({ notes }: RunResult): Fault[] {
  return notes.episodes.flatMap(({ faults }) => faults);
}

function faultsByKind(result: RunResult): Record<string, number> {
  return counted(faultsOf(result).map(({ kind }) => kind));
}

function answersByCode(calls: readonly ClientCall[]): Record<string, number> {
  return counted(
    calls.map(({ status, code, hungUp, whole }) => {
      if (hungUp) return "client hung up";
      if (status === 0 || (status === 200 && !whole && code === null)) return "interrupted";
      return code === null ? String(status) : `${status} ${code}`;
    }),
  );
}

function isWithin(at: number, { injectedAt, healedAt }: { injectedAt: number; healedAt: number }): boolean {
  return at >= injectedAt && at <= healedAt;
}

function counted(names: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function shown(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** Writes amounts as decimal strings. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? one.toString() : one)));
}

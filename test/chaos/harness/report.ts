/** What a run is remembered by: some lines for a person, and everything in JSON. */
import type { Fault } from "./faults/fault.ts";
import { describeFault } from "./faults/fault.ts";
import type { RunResult } from "./run-chaos.ts";
import type { Violation } from "./checks/violation.ts";

const violationsShown = 20;
/** Around a violation everything that happened so long before and after it is kept. */
const aroundMs = 5_000;

export function summaryOf(result: RunResult): string[] {
  const { money, violations, evidence, seed, recoveries, quietMs, skipped } = result;
  const kinds = Object.entries(faultsByKind(result)).map(([kind, count]) => `${kind} ${count}`);
  const { clients, provider } = evidence;
  const steady = recoveries.map(({ recovery }) => recovery.steadyMs ?? Infinity);
  return [
    ``,
    `seed ${seed}; the interleaving of real processes is not given by it`,
    `faults injected: ${faultsOf(result).length} (${kinds.join(", ")})`,
    ...skipped.map((what) => `left out: ${what}`),
    `requests sent ${clients.length}, admitted ${money.admitted}, provider calls ${provider.length}, charged ${money.charged}`,
    `answers: ${Object.entries(answersByCode(result))
      .map(([code, count]) => `${code} ${count}`)
      .join(", ")}`,
    `lost ${money.lost.length}, doubled ${money.doubled.length}, unmetered ${money.unmetered.length}, wrong ${money.wrong.length}, end unknown (a gateway died) ${money.unknown}`,
    `worst recovery to steady answers: ${(Math.max(0, ...steady) / 1_000).toFixed(1)} s; quiet after ${(quietMs / 1_000).toFixed(1)} s`,
    `violations: ${violations.length}`,
    ...violations.slice(0, violationsShown).map((violation) => `  ${shownViolation(violation)}`),
  ];
}

export function reportOf(result: RunResult): unknown {
  const { seed, money, violations, recoveries, evidence, skipped, quietMs } = result;
  return plain({
    seed,
    faults: faultsByKind(result),
    skipped,
    sent: evidence.clients.length,
    answers: answersByCode(result),
    admitted: money.admitted,
    charged: money.charged,
    unknown: money.unknown,
    lost: money.lost.length,
    doubled: money.doubled.length,
    unmetered: money.unmetered.length,
    wrong: money.wrong.length,
    quietMs,
    episodes: recoveries.map(({ episode, recovery }) => ({ ...episode, ...recovery, names: episode.faults.map(describeFault) })),
    violations: violations.map((violation) => ({ ...violation, around: around(violation, result) })),
  });
}

function faultsOf({ evidence }: RunResult): Fault[] {
  return evidence.episodes.flatMap(({ faults }) => faults);
}

function faultsByKind(result: RunResult): Record<string, number> {
  return counted(faultsOf(result).map(({ kind }) => kind));
}

function answersByCode({ evidence }: RunResult): Record<string, number> {
  return counted(
    evidence.clients.map(({ status, code, left, whole }) => {
      if (left) return "client left";
      if (status === 0 || (status === 200 && !whole && code === null)) return "broken off";
      return code === null ? String(status) : `${status} ${code}`;
    }),
  );
}

/** Everything that is known of its generation, and the faults of that time. */
function around({ generation, at }: Violation, { evidence }: RunResult): unknown {
  const { clients, provider, stored, episodes } = evidence;
  return {
    episodes: episodes.filter((one) => at !== null && one.inflictedAt - aroundMs < at && one.healedAt + aroundMs > at),
    clients: generation === null ? [] : clients.filter((one) => one.generation === generation),
    provider: generation === null ? [] : provider.filter((one) => one.generation === generation),
    charges: stored.charges.filter((one) => one.generation === generation),
    log: stored.log.filter((one) => one.generation === generation),
    entries: stored.entries.filter((one) => one.reference === generation),
  };
}

function shownViolation({ rule, detail, generation, at }: Violation): string {
  return [rule, generation, detail, at === null ? null : new Date(at).toISOString()].filter((part) => part !== null).join("; ");
}

function counted(names: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Amounts as decimal strings. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? one.toString() : one)));
}

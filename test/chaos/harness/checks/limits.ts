/** Limits that no fault may lift: the rate window, and admission while it cannot decide. */
import { rateWindowMs } from "../../../../src/limits/constants.ts";
import { closesAdmission } from "../faults/fault.ts";
import type { Evidence } from "./evidence.ts";
import type { Violation } from "./violation.ts";

/** Requests that were admitted just before may still be on their way to the provider, or tried once more. */
const closingMs = 3_000;

export function checkLimits(evidence: Evidence): Violation[] {
  return [...windowsPassed(evidence), ...callsWhileClosed(evidence), ...negativeBalances(evidence)];
}

/** Of a key's admissions no more than its limit lie within any 60 seconds. */
function windowsPassed({ stored: { log }, requestsPerMinute }: Evidence): Violation[] {
  return [...requestsPerMinute].flatMap(([key, limit]) => {
    const rows = log.filter((row) => row.key === key).toSorted((a, b) => a.admittedAt - b.admittedAt);
    return rows.flatMap(({ generation, admittedAt }, index) => {
      const earlier = rows[index - limit];
      if (earlier === undefined || admittedAt - earlier.admittedAt >= rateWindowMs) return [];
      const detail = `key ${key}: ${limit + 1} admissions in ${admittedAt - earlier.admittedAt} ms`;
      return [{ rule: "more requests than the window allows", generation, detail, at: admittedAt }];
    });
  });
}

function callsWhileClosed({ provider, episodes }: Evidence): Violation[] {
  const closed = episodes.filter(({ faults }) => faults.some(closesAdmission));
  return closed.flatMap(({ faults, inflictedAt, healedAt }) => {
    const longest = Math.max(...faults.map((fault) => (closesAdmission(fault) && "ms" in fault ? fault.ms : 0)));
    const openAgainAt = Math.min(healedAt, inflictedAt + longest);
    const calls = provider.filter(({ startedAt }) => startedAt > inflictedAt + closingMs && startedAt < openAgainAt);
    return calls.map(({ generation, startedAt }) => ({
      rule: "a provider was called while admission could not decide",
      generation,
      detail: `${startedAt - inflictedAt} ms after the fault began`,
      at: startedAt,
    }));
  });
}

/** Only what is charged after its hold was given up may take a balance below zero. */
function negativeBalances({ stored: { entries, charges } }: Evidence): Violation[] {
  if (charges.some(({ late }) => late)) return [];
  return entries
    .filter(({ balanceAfter }) => balanceAfter < 0n)
    .map(({ workspace, sequence, reference, balanceAfter }) => ({
      rule: "a balance below zero",
      generation: reference,
      detail: `workspace ${workspace}, entry ${sequence}: ${balanceAfter}`,
      at: null,
    }));
}

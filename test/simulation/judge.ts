/** Runs seeds, checks all invariants, and reports for each failed seed its events and how to repeat it. */
import type { Verification } from "../../src/gateway/metering/verify.ts";
import type { HistoryEvent } from "../invariants/history.ts";
import { brokenLines, checkAll, type Result } from "../invariants/invariants.ts";
import type { MemoryLedger } from "../support/gateway/memory-ledger.ts";
import { eventText, hashOfHistory } from "./recorder.ts";
import { runSeed, type Run } from "./run.ts";
import type { StoredLedgers } from "./world/stored.ts";
import { tallyOf, type Tally } from "./tally.ts";

export interface Verdict {
  seed: number;
  tally: Tally;
  /** The hash of its history. */
  hash: string;
  /** null: every invariant holds. */
  failure: string | null;
}

/**
 * Verifies the ledgers of all seeds together, and one by one only when that fails. The database takes no ledger that breaks its own rules,
 * so those of failed runs are left out.
 */
export async function judge(seeds: readonly number[], stored: StoredLedgers): Promise<Verdict[]> {
  const judged = seeds.map(judgeOne);
  const ledgers = judged.flatMap(({ ledger, verdict }) => (verdict.failure === null && ledger ? ledger : []));
  const together = await stored.verify(ledgers);
  if (together.ok) return judged.map(({ verdict }) => countStored(verdict, together, ledgers.length));
  for (const { verdict, ledger, run } of judged) {
    if (verdict.failure !== null || !ledger || !run) continue;
    const results = checkAll({ ...run.evidence, stored: await stored.verify([ledger]) });
    verdict.failure = failureOf(run, results);
  }
  return judged.map(({ verdict }) => verdict);
}

function judgeOne(seed: number): { verdict: Verdict; ledger: MemoryLedger | null; run: Run | null } {
  try {
    const run = runSeed(seed);
    const results = checkAll(run.evidence);
    const history = run.evidence.history ?? [];
    const verdict = { seed, tally: tallyOf(run, results), hash: hashOfHistory(history), failure: failureOf(run, results) };
    return { verdict, ledger: run.world.ledger.ledger, run };
  } catch (error) {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return {
      verdict: { seed, tally: {}, hash: "", failure: `The run threw ${why}\n${replayLine(seed)}` },
      ledger: null,
      run: null,
    };
  }
}

/** Divides the number of verified rows evenly among the runs. */
function countStored(verdict: Verdict, { checked }: Verification, runs: number): Verdict {
  const rows = checked.reduce((sum, { rows: some }) => sum + some, 0);
  return { ...verdict, tally: { ...verdict.tally, "rows verified": rows / runs } };
}

const linesMax = 120;

function failureOf({ seed, evidence }: Run, results: readonly Result[]): string | null {
  const lines = brokenLines(results);
  if (lines.length === 0) return null;
  const related = relatedEvents(evidence.history ?? [], lines.join("\n"));
  const shown = related.slice(-linesMax);
  const cut = related.length > shown.length ? [`… ${related.length - shown.length} earlier events are left out`] : [];
  return [...lines, ...cut, ...shown.map(eventLine), replayLine(seed)].join("\n");
}

/** All faults, and the events with a name that a broken invariant names. */
function relatedEvents(history: readonly HistoryEvent[], broken: string): HistoryEvent[] {
  const names = new Set(broken.match(/\b(gen|key|ws|request|own)-[a-z0-9-]+|\bpi_\d+/g) ?? []);
  const general = ["fault", "restored", "events lost", "stepped", "healed", "quiet"];
  return history.filter((event) => {
    if (general.includes(event.kind)) return true;
    return Object.values(event).some((value) => typeof value === "string" && names.has(value));
  });
}

function eventLine(event: HistoryEvent): string {
  const { kind, at, ...facts } = event;
  const text = eventText({ kind, at, ...facts } as HistoryEvent).replace(/^\{"kind":"[^"]*","at":[0-9.]+,?/, "{");
  return `${at.toFixed(1).padStart(12)} ms  ${kind.padEnd(12)} ${text}`;
}

function replayLine(seed: number): string {
  return `To repeat it: npm run simulate -- --seed ${seed}`;
}

/** What a dead gateway's spool says of its generations. */
import type { GenerationId } from "../../kernel/ids.ts";
import type { AdmissionIntent, Intent, ProgressLine, SpoolLine } from "./spool-line.ts";
import type { Settlement } from "./settlement.ts";

/** A generation whose gateway died: no settlement was written. */
export interface Cut {
  intent: Intent;
  /** False where its request had not been sent to a provider. */
  sent: boolean;
  /** By whom it was served; absent: nobody told. */
  owed?: Intent["owed"];
  cachedTokens: number;
  cacheWriteTokens: number;
  completionTokens: number;
}

/** What a spool held when it was opened. */
export interface Recovered {
  cut: Cut[];
  settlements: Settlement[];
  /** Admissions of the last minute and before, for the rate window. */
  intents: Intent[];
  /** Asked for and not dispatched: refused, given up, or held by nobody's knowledge. */
  undecided: AdmissionIntent[];
}

const nothingTold = { cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0 };

export function nothingRecovered(): Recovered {
  return { cut: [], settlements: [], intents: [], undecided: [] };
}

/** Those that the ledger has yet to confirm. */
export function generationsOf(lines: SpoolLine[]): Set<GenerationId> {
  const open = new Set<GenerationId>();
  for (const line of lines) {
    if (line.kind === "intent") open.add(line.intent.generation);
    if (line.kind === "settlement") open.add(line.settlement.generation);
  }
  return open;
}

export function recoveredFrom(lines: SpoolLine[]): Recovered {
  const asked = new Map<GenerationId, AdmissionIntent>();
  const open = new Map<GenerationId, Cut>();
  const intents: Intent[] = [];
  const settlements = new Map<GenerationId, Settlement>();
  for (const line of lines) {
    if (line.kind === "asked") for (const one of line.asked) asked.set(one.generation, one);
    if (line.kind === "intent") {
      intents.push(line.intent);
      open.set(line.intent.generation, { intent: line.intent, sent: true, owed: line.intent.owed, ...nothingTold });
    }
    if (line.kind === "progress") takeProgress(line.progress, open);
    if (line.kind === "settlement") settlements.set(line.settlement.generation, line.settlement);
  }
  return {
    cut: [...open.values()].filter(({ intent }) => !settlements.has(intent.generation)),
    settlements: [...settlements.values()],
    intents,
    undecided: [...asked.values()].filter(({ generation }) => !open.has(generation) && !settlements.has(generation)),
  };
}

function takeProgress({ unsent, delivered, routed }: ProgressLine, open: Map<GenerationId, Cut>): void {
  for (const generation of unsent) {
    const cut = open.get(generation);
    if (cut) cut.sent = false;
  }
  for (const [generation, promptTokens, cachedTokens, cacheWriteTokens, completionTokens] of delivered) {
    const cut = open.get(generation);
    if (!cut) continue;
    cut.sent = true;
    Object.assign(cut, { cachedTokens, cacheWriteTokens, completionTokens });
    if (cut.owed) cut.owed = { ...cut.owed, promptTokens };
  }
  for (const [generation, route] of routed) {
    const cut = open.get(generation);
    if (cut?.owed) cut.owed = { ...cut.owed, ...route };
  }
}

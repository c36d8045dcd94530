/** What a dead gateway's spool says of its generations. */
import type { GenerationId } from "../../kernel/ids.ts";
import type { AdmissionIntent, GenerationIntent, ProgressLine, SpoolLine } from "./spool-line.ts";
import type { Settlement } from "./settlement.ts";

/** A generation whose gateway died: no settlement was written. */
export interface InterruptedGeneration {
  intent: GenerationIntent;
  /** False where its request had not been sent to a provider. */
  sent: boolean;
  /** By whom it was served; absent: nobody told. */
  owed?: GenerationIntent["owed"];
  cachedTokens: number;
  cacheWriteTokens: number;
  completionTokens: number;
}

/** What a spool held when it was opened. */
export interface Recovered {
  interrupted: InterruptedGeneration[];
  settlements: Settlement[];
  /** Admissions of the last minute and before, for the rate window. */
  intents: GenerationIntent[];
  /** Asked for and not dispatched: refused, given up, or held by nobody's knowledge. */
  pendingAdmissions: AdmissionIntent[];
}

const nothingDelivered = { cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0 };

export function nothingRecovered(): Recovered {
  return { interrupted: [], settlements: [], intents: [], pendingAdmissions: [] };
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
  const open = new Map<GenerationId, InterruptedGeneration>();
  const intents: GenerationIntent[] = [];
  const settlements = new Map<GenerationId, Settlement>();
  for (const line of lines) {
    if (line.kind === "asked") for (const one of line.asked) asked.set(one.generation, one);
    if (line.kind === "intent") {
      intents.push(line.intent);
      open.set(line.intent.generation, { intent: line.intent, sent: true, owed: line.intent.owed, ...nothingDelivered });
    }
    if (line.kind === "progress") applyProgress(line.progress, open);
    if (line.kind === "settlement") settlements.set(line.settlement.generation, line.settlement);
  }
  return {
    interrupted: [...open.values()].filter(({ intent }) => !settlements.has(intent.generation)),
    settlements: [...settlements.values()],
    intents,
    pendingAdmissions: [...asked.values()].filter(({ generation }) => !open.has(generation) && !settlements.has(generation)),
  };
}

function applyProgress({ unsent, delivered, routed }: ProgressLine, open: Map<GenerationId, InterruptedGeneration>): void {
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

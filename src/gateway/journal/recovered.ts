/** The state of a dead gateway's generations, read from its spool. */
import type { GenerationId } from "../../kernel/ids.ts";
import type { Month } from "../../kernel/clock.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { AdmissionIntent, BlockIntent, GenerationIntent, ProgressLine, SpoolLine } from "./spool-line.ts";
import type { Settlement } from "./settlement.ts";

/** A generation whose gateway died before it wrote a settlement. */
export interface InterruptedGeneration {
  intent: GenerationIntent;
  /** False if its request had not been sent to a provider. */
  sent: boolean;
  /** The route that served it; absent: not known. */
  owed?: GenerationIntent["owed"];
  cachedTokens: number;
  cacheWriteTokens: number;
  completionTokens: number;
}

/** A block of a process that died, with what was admitted with it. The ledger may have some of that. */
export interface RecoveredBlock extends BlockIntent {
  /** Empty: nothing was admitted with it. */
  month: Month;
  reserved: NanoUsd;
  /** Ascending. */
  times: number[];
}

/** The content of a spool when it was opened. */
export interface Recovered {
  interrupted: InterruptedGeneration[];
  settlements: Settlement[];
  /** Admissions of the last minute and before, for the rate window. */
  intents: GenerationIntent[];
  /** Admissions that were requested and not dispatched: refused, released, or still held. */
  pendingAdmissions: AdmissionIntent[];
  /** Blocks that were asked for or used. */
  blocks: RecoveredBlock[];
  /** Whether its process ended in order, so that the ledger has all settlements. */
  closed: boolean;
}

const nothingDelivered = { cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0 };

export function nothingRecovered(): Recovered {
  return { interrupted: [], settlements: [], intents: [], pendingAdmissions: [], blocks: [], closed: false };
}

/** Generations that the ledger has not confirmed. */
export function generationsOf(lines: SpoolLine[]): Set<GenerationId> {
  const open = new Set<GenerationId>();
  for (const line of lines) {
    if (line.kind === "intent") open.add(line.intent.generation);
    if (line.kind === "settlement") open.add(line.settlement.generation);
  }
  return open;
}

export function recoveredFrom(lines: SpoolLine[]): Recovered {
  const requested = new Map<GenerationId, AdmissionIntent>();
  const open = new Map<GenerationId, InterruptedGeneration>();
  const intents: GenerationIntent[] = [];
  const settlements = new Map<GenerationId, Settlement>();
  const blocks = new Map<string, RecoveredBlock>();
  for (const line of lines) {
    if (line.kind === "asked") for (const intent of line.asked) requested.set(intent.generation, intent);
    if (line.kind === "blocks") for (const one of line.blocks) blockOf(one, blocks);
    if (line.kind === "intent") {
      intents.push(line.intent);
      addToBlock(line.intent, blocks);
      open.set(line.intent.generation, { intent: line.intent, sent: true, owed: line.intent.owed, ...nothingDelivered });
    }
    if (line.kind === "progress") applyProgress(line.progress, open);
    if (line.kind === "settlement") settlements.set(line.settlement.generation, line.settlement);
  }
  return {
    interrupted: [...open.values()].filter(({ intent }) => !settlements.has(intent.generation)),
    settlements: [...settlements.values()],
    intents,
    pendingAdmissions: [...requested.values()].filter(({ generation }) => !open.has(generation) && !settlements.has(generation)),
    blocks: [...blocks.values()],
    closed: lines.at(-1)?.kind === "closed",
  };
}

function addToBlock(
  { workspace, key, month, block, amount, admittedAt }: GenerationIntent,
  blocks: Map<string, RecoveredBlock>,
): void {
  if (block === undefined) return;
  const known = blockOf({ workspace, key, block }, blocks);
  known.month = month;
  known.reserved += BigInt(amount);
  known.times.push(admittedAt);
}

function blockOf({ workspace, key, block }: BlockIntent, blocks: Map<string, RecoveredBlock>): RecoveredBlock {
  const known = blocks.get(block) ?? { workspace, key, block, month: "", reserved: 0n, times: [] };
  blocks.set(block, known);
  return known;
}

function applyProgress({ unsent, delivered, routed }: ProgressLine, open: Map<GenerationId, InterruptedGeneration>): void {
  for (const generation of unsent) {
    const interrupted = open.get(generation);
    if (interrupted) interrupted.sent = false;
  }
  for (const [generation, promptTokens, cachedTokens, cacheWriteTokens, completionTokens] of delivered) {
    const interrupted = open.get(generation);
    if (!interrupted) continue;
    interrupted.sent = true;
    Object.assign(interrupted, { cachedTokens, cacheWriteTokens, completionTokens });
    if (interrupted.owed) interrupted.owed = { ...interrupted.owed, promptTokens };
  }
  for (const [generation, route] of routed) {
    const interrupted = open.get(generation);
    // Replaced as a whole: this route may have no tiers.
    if (interrupted?.owed) interrupted.owed = { ...route, promptTokens: interrupted.owed.promptTokens };
  }
}

/**
 * The state of a dead gateway's generations, read from its spool, and how each one ends. A generation with a settlement is published again.
 * One that is said to have ended is in the ledger, so only its admission counts, in the rate window.
 * One whose request was sent is charged for its prompt and for what its last line of progress says was delivered. One whose request was not
 * sent ends as unknown and costs nothing. Admissions and blocks without a generation are released by the caller.
 * The reading is pure, from lines to a result, so the simulation recovers in the same way as a process.
 */
import type { Hold } from "../../backing/counters.ts";
import { holdMs } from "../../backing/limits.ts";
import type { Month } from "../../kernel/clock.ts";
import type { EndingCode } from "../../kernel/errors.ts";
import type { GenerationId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { Settlement } from "./settlement.ts";
import {
  type AdmissionIntent,
  type BlockIntent,
  type GenerationIntent,
  type ProgressLine,
  type SpoolLine,
  owedPrices,
} from "./spool-line.ts";

/** A generation whose gateway died before it wrote a settlement. */
interface InterruptedGeneration {
  intent: GenerationIntent;
  /** False if its request had not been sent to a provider. */
  sent: boolean;
  /** The route that served it; absent: not known. */
  owed?: GenerationIntent["owed"];
  cachedTokens: number;
  cacheWriteTokens: number;
  completionTokens: number;
}

/** A block of a process that died, with the requests that it admitted. The ledger may have some of them. */
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
  /** Those of `intents` that the ledger has, although their settlements were deleted. */
  ended: ReadonlySet<GenerationId>;
  /** Admissions that were requested and not dispatched: refused, released, or still held. */
  pendingAdmissions: AdmissionIntent[];
  /** Blocks that were asked for or used. */
  blocks: RecoveredBlock[];
  /** Whether its process ended cleanly, so that the ledger has all settlements. */
  closed: boolean;
}

const nothingDelivered = { cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0 };

export function nothingRecovered(): Recovered {
  return { interrupted: [], settlements: [], intents: [], ended: new Set(), pendingAdmissions: [], blocks: [], closed: false };
}

/** The generations that ended by this line. */
export function endedBy(line: SpoolLine): readonly GenerationId[] {
  if (line.kind === "settlement") return [line.settlement.generation];
  return line.kind === "ended" ? line.ended : [];
}

export function recoveredFrom(lines: SpoolLine[]): Recovered {
  const requested = new Map<GenerationId, AdmissionIntent>();
  const open = new Map<GenerationId, InterruptedGeneration>();
  const intents: GenerationIntent[] = [];
  const settlements = new Map<GenerationId, Settlement>();
  const blocks = new Map<string, RecoveredBlock>();
  const ended = endedAlone(lines);
  for (const line of lines) {
    if (line.kind === "asked") for (const intent of line.asked) requested.set(intent.generation, intent);
    if (line.kind === "blocks") for (const one of line.blocks) blockOf(one, blocks);
    if (line.kind === "intent") {
      intents.push(line.intent);
      addToBlock(line.intent, { blocks, ended });
      open.set(line.intent.generation, { intent: line.intent, sent: true, owed: line.intent.owed, ...nothingDelivered });
    }
    if (line.kind === "progress") applyProgress(line.progress, open);
    if (line.kind === "settlement") settlements.set(line.settlement.generation, line.settlement);
  }
  return {
    interrupted: [...open.values()].filter(
      ({ intent: { generation } }) => !settlements.has(generation) && !ended.has(generation),
    ),
    settlements: [...settlements.values()],
    intents,
    ended,
    pendingAdmissions: [...requested.values()].filter(({ generation }) => !open.has(generation) && !settlements.has(generation)),
    blocks: [...blocks.values()],
    closed: lines.at(-1)?.kind === "closed",
  };
}

/** The generations of `ended` lines whose settlements are not there: the ledger had them before these were deleted. */
function endedAlone(lines: SpoolLine[]): Set<GenerationId> {
  const ended = new Set(lines.flatMap((line) => (line.kind === "ended" ? line.ended : [])));
  for (const line of lines) if (line.kind === "settlement") ended.delete(line.settlement.generation);
  return ended;
}

function blockOf({ workspace, key, block }: BlockIntent, blocks: Map<string, RecoveredBlock>): RecoveredBlock {
  const known = blocks.get(block) ?? { workspace, key, block, month: "", reserved: 0n, times: [] };
  blocks.set(block, known);
  return known;
}

/** Its block no longer holds what the ledger has. */
function addToBlock(
  { generation, workspace, key, month, block, amount, admittedAt }: GenerationIntent,
  { blocks, ended }: { blocks: Map<string, RecoveredBlock>; ended: ReadonlySet<GenerationId> },
): void {
  if (block === undefined) return;
  const known = blockOf({ workspace, key, block }, blocks);
  known.month = month;
  if (!ended.has(generation)) known.reserved += BigInt(amount);
  known.times.push(admittedAt);
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

// Settlements

const nothing = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };
const free = { input: "0", output: "0", cacheRead: "0", cacheWrite: "0" };

const code: EndingCode = "internal_error";
const failed = { usageEstimated: false, status: 500, code, firstTokenMs: null };

/**
 * For a gateway that died between the intent and the settlement. A request that was sent is charged: its prompt, and the tokens
 * delivered by its last progress line.
 */
export function interruptedSettlement({ intent, sent, owed, ...delivered }: InterruptedGeneration, nowMs: number): Settlement {
  const { generation, request, workspace, key, month, admittedAt, streamed, endpoint, block, claim } = intent;
  const model = owed?.model ?? intent.model;
  // A spool may be found after weeks; no generation lasts longer than its hold.
  const durationMs = Math.min(Math.max(0, Math.round(nowMs - admittedAt)), holdMs);
  const routing = routingOf(intent, model);
  const ids = {
    generation,
    request,
    workspace,
    key,
    ...(endpoint && { endpoint }),
    ...(routing && { routing }),
    ...(block && { block }),
    ...(claim && { claim }),
  };
  const facts = { ...ids, month, admittedAt, model, streamed, reserved: intent.amount, durationMs };
  if (!sent || !owed) return { ...uncharged("unknown"), ...facts };
  const { provider, promptTokens } = owed;
  const usage = { ...nothing, ...delivered, promptTokens };
  const priced = owedPrices(owed, usage);
  return { ...facts, ...failed, ...priced, outcome: "settled", provider, usage, usageEstimated: true };
}

/** For a hold that outlived every stream and that no gateway reports. */
export function expiredSettlement(workspace: string, hold: Hold): Settlement {
  const { generation, key, month, admittedAt, deadline } = hold;
  const facts = { generation, key, month, admittedAt, workspace, request: "unknown", model: "unknown", streamed: false };
  return { ...uncharged("expired"), ...facts, reserved: hold.amount.toString(), durationMs: deadline - admittedAt };
}

/** The calls of a generation are lost with its gateway; the model that was requested is not. */
function routingOf({ requested, model: first }: InterruptedGeneration["intent"], model: string): Settlement["routing"] {
  const asked = requested ?? first;
  return asked === model ? undefined : { requested: asked, attempts: [] };
}

function uncharged(
  outcome: "unknown" | "expired",
): Pick<Settlement, "outcome" | "prices" | "usage" | "provider"> & typeof failed {
  return { outcome, prices: free, usage: nothing, provider: "unknown", ...failed };
}

/** The event that ends a generation, from the gateway's spool over the bus into the ledger. Amounts and prices are decimal strings. */
import { Type, type Static } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { isJsonObject, type JsonObject } from "../../http/json.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";

export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Up to the last millisecond that a Date can hold. */
const Time = Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 });
export const Amount = Type.String({ pattern: "^\\d{1,19}$" });

/** An endpoint beside chat completions. */
const Endpoint = Type.Union([Type.Literal("completions"), Type.Literal("embeddings")]);
export type Endpoint = Static<typeof Endpoint>;

/** A call of a provider for a routed request. */
export const RouteAttempt = Type.Object({
  provider: Type.String({ description: "The provider that was called" }),
  model: Type.String({ description: "The model that was called" }),
  own_key: Type.Boolean({ description: "Whether the workspace's own provider key was used" }),
  code: Type.Union([Type.String(), Type.Null()], { description: "The code of the failure; null: it answered" }),
  ms: Type.Integer({ ...Count, description: "From the call to its failure or to the end of its answer, in milliseconds" }),
});
export type RouteAttempt = Static<typeof RouteAttempt>;

export const Settlement = Type.Object({
  generation: Type.String({ pattern: "^gen-[a-z2-7]{26}$" }),
  request: Type.String(),
  workspace: Type.String(),
  key: Type.String(),
  month: Type.String({ pattern: "^\\d{4}-\\d{2}$" }),
  /**
   * settled: the answer ended, with or without an error. unknown: its gateway died before it sent the request. expired: its hold
   * outlived every stream. unknown and expired are charged 0 and raise an alarm.
   */
  outcome: Type.Union([Type.Literal("settled"), Type.Literal("unknown"), Type.Literal("expired")]),
  reserved: Amount,
  /** Time of admission in milliseconds of the counters' clock. */
  admittedAt: Time,
  model: Type.String(),
  provider: Type.String(),
  /** Pico-USD per token, from the route that served and the tier that the prompt reached. */
  prices: Type.Object({ input: Amount, output: Amount, cacheRead: Amount, cacheWrite: Amount }),
  /** The bound of that tier. Absent: no tier, or an older version wrote the settlement. */
  tierAboveTokens: Type.Optional(Count),
  /** The workspace's own key that served, with what the call would have cost in nano-USD: the provider bills it. Absent: the service's. */
  ownKey: Type.Optional(Type.Object({ id: Type.String(), listCost: Amount })),
  usage: Type.Object({
    promptTokens: Count,
    cachedTokens: Count,
    cacheWriteTokens: Count,
    completionTokens: Count,
    reasoningTokens: Count,
  }),
  usageEstimated: Type.Boolean(),
  status: Type.Integer({ minimum: 100, maximum: 599 }),
  code: Type.Union([Type.String(), Type.Null()]),
  streamed: Type.Boolean(),
  firstTokenMs: Type.Union([Count, Type.Null()]),
  durationMs: Count,
  /** The block that it was admitted with, whose gateway releases it. Absent: it has a hold of its own. */
  block: Type.Optional(Type.String()),
  /** Absent: chat completions, or an older version wrote the settlement. */
  endpoint: Type.Optional(Endpoint),
  /** Absent: the workspace has routing off, or an older version wrote it. */
  routing: Type.Optional(
    Type.Object({
      /** The request's `model`, if another one served or was tried last; null: it is `model`. */
      requested: Type.Union([Type.String(), Type.Null()]),
      attempts: Type.Array(RouteAttempt),
    }),
  ),
});
export type Settlement = Static<typeof Settlement>;

/** Settlement batches and their confirmations as bytes. Settlements from the bus are checked, and only invalid ones are set aside. */

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const settlementCheck = TypeCompiler.Compile(Settlement);
const envelopeCheck = TypeCompiler.Compile(Type.Object({ batch: Type.String(), settlements: Type.Array(Type.Unknown()) }));
const settledCheck = TypeCompiler.Compile(Type.Array(Type.String()));

/**
 * An array of its values, which takes half the bytes of an object in the spool and on the bus. An object with what few settlements have
 * follows; older versions ignore it.
 */
export function encodeSettlement(settlement: Settlement): string {
  const { prices, usage } = settlement;
  return JSON.stringify([
    settlement.generation,
    settlement.request,
    settlement.workspace,
    settlement.key,
    settlement.month,
    settlement.outcome,
    settlement.reserved,
    settlement.admittedAt,
    settlement.model,
    settlement.provider,
    prices.input,
    prices.output,
    prices.cacheRead,
    prices.cacheWrite,
    usage.promptTokens,
    usage.cachedTokens,
    usage.cacheWriteTokens,
    usage.completionTokens,
    usage.reasoningTokens,
    settlement.usageEstimated,
    settlement.status,
    settlement.code,
    settlement.streamed,
    settlement.firstTokenMs,
    settlement.durationMs,
    ...rareFields(settlement),
  ]);
}

/** Fields that few settlements have. An older reader ignores them. */
function rareFields({ tierAboveTokens, endpoint, routing, ownKey, block }: Settlement): [] | [JsonObject] {
  const rare = { tierAboveTokens, endpoint, routing, ownKey, block };
  return Object.values(rare).every((value) => value === undefined) ? [] : [rare];
}

/** The values under their names, unchecked. Older spools hold an object already. */
function named(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const [
    generation,
    request,
    workspace,
    key,
    month,
    outcome,
    reserved,
    admittedAt,
    model,
    provider,
    input,
    output,
    cacheRead,
    cacheWrite,
    promptTokens,
    cachedTokens,
    cacheWriteTokens,
    completionTokens,
    reasoningTokens,
    usageEstimated,
    status,
    code,
    streamed,
    firstTokenMs,
    durationMs,
    rare,
  ]: unknown[] = value;
  const prices = { input, output, cacheRead, cacheWrite };
  const usage = { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, reasoningTokens };
  return {
    generation,
    request,
    workspace,
    key,
    month,
    outcome,
    reserved,
    admittedAt,
    model,
    provider,
    prices,
    usage,
    usageEstimated,
    status,
    code,
    streamed,
    firstTokenMs,
    durationMs,
    ...(isJsonObject(rare) && rare),
  };
}

/** @param value the parsed result of `encodeSettlement`. @returns null if it is not a settlement */
export function readSettlement(value: unknown): Settlement | null {
  const settlement = named(value);
  return settlementCheck.Check(settlement) ? settlement : null;
}

/**
 * Several settlements under one id. The topic "settled" confirms them together by that id.
 * @param texts from `encodeSettlement`
 */
export function encodeSettlements(batch: string, texts: readonly string[]): Uint8Array {
  return encoder.encode(`{"batch":${JSON.stringify(batch)},"settlements":[${texts.join(",")}]}`);
}

interface DecodedBatch {
  batch: string;
  settlements: Settlement[];
  /** Invalid settlements, as they were received. */
  invalid: { text: string; reason: string }[];
}

/** @throws SyntaxError, TypeError when the envelope cannot be read */
export function decodeSettlements(payload: Uint8Array): DecodedBatch {
  const value: unknown = JSON.parse(decoder.decode(payload));
  if (!envelopeCheck.Check(value)) throw new TypeError("Cannot read settlements: no batch");
  const decoded: DecodedBatch = { batch: value.batch, settlements: [], invalid: [] };
  for (const item of value.settlements) {
    const settlement = readSettlement(item);
    if (settlement) decoded.settlements.push(settlement);
    else decoded.invalid.push({ text: JSON.stringify(item), reason: firstProblem(item) });
  }
  return decoded;
}

function firstProblem(value: unknown): string {
  const problem = settlementCheck.Errors(named(value)).First();
  return problem ? `${problem.path}: ${problem.message}` : "unknown";
}

export function encodeSettled(batches: string[]): Uint8Array {
  return encoder.encode(JSON.stringify(batches));
}

/** Empty if it cannot be read: without a confirmation a batch is published again. */
export function decodeSettled(payload: Uint8Array): string[] {
  try {
    const value: unknown = JSON.parse(decoder.decode(payload));
    return settledCheck.Check(value) ? value : [];
  } catch {
    return [];
  }
}

/**
 * The partition that a workspace's settlements go through. Settlements of a workspace lock its account, so that processes which settle
 * the same workspace wait for each other.
 * @param partitions how many there are at present
 */
export function partitionOf(workspace: WorkspaceId, partitions: number): number {
  if (partitions <= 1) return 0;
  // FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/
  let hash = 0x811c9dc5;
  for (let place = 0; place < workspace.length; place++) {
    hash = Math.imul(hash ^ workspace.charCodeAt(place), 0x01000193);
  }
  return (hash >>> 0) % partitions;
}

/** Settlement batches and their confirmations as bytes. Settlements from the bus are checked, and only invalid ones are set aside. */
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Type } from "@sinclair/typebox";
import { isJsonObject, type JsonObject } from "../../http/json-object.ts";
import { Settlement } from "./settlement.ts";

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

export interface DecodedBatch {
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

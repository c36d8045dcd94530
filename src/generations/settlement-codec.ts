/** Settlement batches and their confirmations as bytes. What comes off the bus is checked: a bad one is put aside alone. */
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Type } from "@sinclair/typebox";
import { Settlement } from "./settlement.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const settlementCheck = TypeCompiler.Compile(Settlement);
const envelopeCheck = TypeCompiler.Compile(Type.Object({ batch: Type.String(), settlements: Type.Array(Type.Unknown()) }));
const settledCheck = TypeCompiler.Compile(Type.Array(Type.String()));

export function encodeSettlement(settlement: Settlement): string {
  return JSON.stringify(settlement);
}

/**
 * Several settlements under one id, by which the topic "settled" confirms them as a whole.
 * @param texts from `encodeSettlement`
 */
export function encodeSettlements(batch: string, texts: readonly string[]): Uint8Array {
  return encoder.encode(`{"batch":${JSON.stringify(batch)},"settlements":[${texts.join(",")}]}`);
}

export interface DecodedBatch {
  batch: string;
  settlements: Settlement[];
  /** Settlements that cannot be understood, as they came. */
  bad: { text: string; reason: string }[];
}

/** @throws SyntaxError, TypeError when not even the envelope can be read */
export function decodeSettlements(payload: Uint8Array): DecodedBatch {
  const value: unknown = JSON.parse(decoder.decode(payload));
  if (!envelopeCheck.Check(value)) throw new TypeError("Cannot read settlements: no batch");
  const decoded: DecodedBatch = { batch: value.batch, settlements: [], bad: [] };
  for (const settlement of value.settlements) {
    if (settlementCheck.Check(settlement)) decoded.settlements.push(settlement);
    else decoded.bad.push({ text: JSON.stringify(settlement), reason: firstProblem(settlement) });
  }
  return decoded;
}

function firstProblem(settlement: unknown): string {
  const problem = settlementCheck.Errors(settlement).First();
  return problem ? `${problem.path}: ${problem.message}` : "unknown";
}

export function encodeSettled(batches: string[]): Uint8Array {
  return encoder.encode(JSON.stringify(batches));
}

/** Empty when it cannot be read: it is a hint. */
export function decodeSettled(payload: Uint8Array): string[] {
  try {
    const value: unknown = JSON.parse(decoder.decode(payload));
    return settledCheck.Check(value) ? value : [];
  } catch {
    return [];
  }
}

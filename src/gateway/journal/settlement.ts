/**
 * The event that ends a generation, from the gateway's spool over the bus into the ledger. Amounts and prices are decimal strings.
 *
 * Its fields and their places come from generation-fields.ts. Settlements travel in batches, which the ledger confirms. What comes from the
 * bus or a spool is checked, and only the invalid settlements of a batch are set aside.
 */
import { Type, type Static, type TObject, type TSchema } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { isJsonObject, type JsonObject } from "../../http/json.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { wireFields, type SettlementSchema } from "../generation-fields.ts";

export const Settlement = settlementSchema();
export type Settlement = Static<SettlementSchema>;

/** The object of all fields by their places, a group at the place of its first field. `SettlementSchema` derives from the same fields. */
function settlementSchema(): SettlementSchema {
  const properties: Record<string, TSchema> = {};
  const groups: Record<string, Record<string, TSchema>> = {};
  for (const { field, group, schema } of wireFields) {
    if (group === null) properties[field] = schema;
    else (groups[group] ??= {})[field] = schema;
  }
  const grouped = Object.entries(groups).map(([group, fields]): [string, TObject] => [group, Type.Object(fields)]);
  return Type.Object({ ...properties, ...Object.fromEntries(grouped) }) as TObject as SettlementSchema;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const settlementCheck = TypeCompiler.Compile(Settlement);
const envelopeCheck = TypeCompiler.Compile(Type.Object({ batch: Type.String(), settlements: Type.Array(Type.Unknown()) }));
const settledCheck = TypeCompiler.Compile(Type.Array(Type.String()));

const common = wireFields.filter(({ isRare }) => !isRare);
const rare = wireFields.filter(({ isRare }) => isRare);

/** An array of its values, which takes half the bytes of an object in the spool and on the bus. An object with the rare fields follows. */
export function encodeSettlement(settlement: Settlement): string {
  return JSON.stringify(valuesOf(settlement));
}

/** The values under their names, unchecked; null: the input is not an array. */
function named(value: unknown): object | null {
  if (!Array.isArray(value)) return null;
  const last: unknown = value[common.length];
  return namedValues(value, isJsonObject(last) ? last : {});
}

/*
 * Both directions are code that is written once from the table, as `TypeCompiler` writes its checks: with a loop over the names, encoding
 * takes a third longer and reading more than twice as long. The names are those of the table, never of data.
 */

const valuesOf = new Function("settlement", valuesCode()) as (settlement: Settlement) => unknown[];
const namedValues = new Function("values", "rare", namedCode()) as (values: unknown[], rare: JsonObject) => object;

function valuesCode(): string {
  const values = common.map(({ path }) => path).join(", ");
  const hasRare = rare.map(({ path }) => `${path} !== undefined`).join(" || ");
  return `return ${hasRare} ? [${values}, { ${rare.map(({ field, path }) => `${field}: ${path}`).join(", ")} }] : [${values}];`;
}

function namedCode(): string {
  const groups = [...Map.groupBy(common, ({ group }) => group)].map(([group, fields]) => {
    const values = fields.map(({ field, place }) => `${field}: values[${place}]`).join(", ");
    return group === null ? values : `${group}: { ${values} }`;
  });
  return `return { ${groups.join(", ")}, ...rare };`;
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
 * The partition that a workspace's settlements go through. Settlements of a workspace lock its account, so processes that settle the same
 * workspace wait for each other.
 * @param partitions how many there are now
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

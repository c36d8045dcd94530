/**
 * The lines of the spool, one kind for each promise: an intent before a provider is called, an admission before a worker is asked, a block
 * before it is asked for, progress, the settlement, and the generations that ended in a deleted segment. Every line is checked when it is
 * read. A line that a crash truncated is skipped, since its caller never saw it as written.
 * A route's prices are in the lines, because the catalog may have changed when a successor charges.
 */
import { Type, type Static } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { GenerationId } from "../../kernel/ids.ts";
import { nanoRoundedHalfUp } from "../../kernel/money.ts";
import { Amount, Count } from "../field-parts.ts";
import type { Usage } from "../models/model.ts";
import { chargedCost, tierOf } from "../models/price.ts";
import { readSettlement, Settlement } from "./settlement.ts";

const OwedTier = Type.Object({ aboveInputTokens: Count, ...Settlement.properties.prices.properties });

const owed = { prices: Settlement.properties.prices, tiers: Type.Optional(Type.Array(OwedTier)) };

/**
 * The route that serves an answer, with the prices that determine its cost. Tiers are absent if it has none. With a workspace's own key
 * its prices are zero, and the list prices stand with the key.
 */
export const OwedRoute = Type.Object({
  provider: Type.String(),
  ...owed,
  /** Absent: the model of the intent. */
  model: Type.Optional(Type.String()),
  ownKey: Type.Optional(Type.Object({ id: Type.String(), ...owed })),
});
export type OwedRoute = Static<typeof OwedRoute>;

/** Written before a provider is called. */
export const GenerationIntent = Type.Object({
  generation: Type.String(),
  request: Type.String(),
  workspace: Type.String(),
  key: Type.String(),
  month: Type.String(),
  fingerprint: Type.String(),
  /** nano-USD. */
  amount: Amount,
  /** Milliseconds, the counters' clock. */
  admittedAt: Type.Number(),
  model: Type.String(),
  /** The request's model where another one is called first. */
  requested: Type.Optional(Type.String()),
  streamed: Type.Boolean(),
  /** The block that it was admitted with; absent: it has its own hold. */
  block: Type.Optional(Type.String()),
  endpoint: Settlement.properties.endpoint,
  claim: Settlement.properties.claim,
  /** The cost that is owed as soon as the request is sent. Absent: no provider is called. */
  owed: Type.Optional(Type.Object({ ...OwedRoute.properties, promptTokens: Count })),
});
export type GenerationIntent = Static<typeof GenerationIntent>;

/** Written before a request to admission is sent, which may leave a hold even if this process never reads the reply. */
export const AdmissionIntent = Type.Object({ workspace: Type.String(), generation: Type.String() });
export type AdmissionIntent = Static<typeof AdmissionIntent>;

/** Written before a block is asked for. */
export const BlockIntent = Type.Object({ workspace: Type.String(), key: Type.String(), block: Type.String() });
export type BlockIntent = Static<typeof BlockIntent>;

/** Progress of generations with an intent and without a settlement. A generation's last line counts. */
const ProgressLine = Type.Object({
  /** Generations whose request has not been sent yet. */
  unsent: Type.Array(Type.String()),
  /** A generation's tokens: prompt, cached part of it, part written to the cache, and delivered. */
  delivered: Type.Array(Type.Tuple([Type.String(), Count, Count, Count, Count])),
  /** Generations that a route other than the one in their intent serves. */
  routed: Type.Array(Type.Tuple([Type.String(), OwedRoute])),
});
export type ProgressLine = Static<typeof ProgressLine>;

const Line = Type.Union([
  Type.Object({ kind: Type.Literal("asked"), asked: Type.Array(AdmissionIntent) }),
  Type.Object({ kind: Type.Literal("blocks"), blocks: Type.Array(BlockIntent) }),
  Type.Object({ kind: Type.Literal("intent"), intent: GenerationIntent }),
  Type.Object({ kind: Type.Literal("settlement"), settlement: Type.Unknown() }),
  Type.Object({ kind: Type.Literal("progress"), progress: ProgressLine }),
  /** Generations that the ledger has, whose settlements were deleted and whose intents were not. */
  Type.Object({ kind: Type.Literal("ended"), ended: Type.Array(Type.String()) }),
  /** Tests whether the disk takes writes again. */
  Type.Object({ kind: Type.Literal("note") }),
  /** The last line of a process that ended cleanly: the ledger has every preceding generation. */
  Type.Object({ kind: Type.Literal("closed") }),
]);
export type SpoolLine = Exclude<Static<typeof Line>, { kind: "settlement" }> | { kind: "settlement"; settlement: Settlement };

const lineCheck = TypeCompiler.Compile(Line);

export function encodeAdmissionLine(intents: AdmissionIntent[]): string {
  return `{"kind":"asked","asked":${JSON.stringify(intents)}}\n`;
}

export function encodeBlocksLine(blocks: BlockIntent[]): string {
  return `{"kind":"blocks","blocks":${JSON.stringify(blocks)}}\n`;
}

export function encodeIntentLine(intent: GenerationIntent): string {
  return `{"kind":"intent","intent":${JSON.stringify(intent)}}\n`;
}

/** @param text from `encodeSettlement`, which is encoded once for spool and bus */
export function encodeSettlementLine(text: string): string {
  return `{"kind":"settlement","settlement":${text}}\n`;
}

export function encodeProgressLine(progress: ProgressLine): string {
  return `{"kind":"progress","progress":${JSON.stringify(progress)}}\n`;
}

export function encodeEndedLine(ended: readonly GenerationId[]): string {
  return `{"kind":"ended","ended":${JSON.stringify(ended)}}\n`;
}

export const probeLine = '{"kind":"note"}\n';

export const closedLine = '{"kind":"closed"}\n';

/** null: not a complete, valid line. */
export function decodeSpoolLine(text: string): SpoolLine | null {
  if (text === "") return null;
  try {
    const value: unknown = JSON.parse(text);
    if (!lineCheck.Check(value)) return null;
    if (value.kind !== "settlement") return value;
    const settlement = readSettlement(value.settlement);
    return settlement && { kind: "settlement", settlement };
  } catch {
    return null;
  }
}

type OwedPrices = Pick<OwedRoute, "prices" | "tiers">;

/**
 * The prices that a settlement is charged with: those of the tier that the prompt reached, or zero with a workspace's own key.
 * @param usage the charged counts, cached tokens included in those of the prompt
 */
export function owedPrices(owed: OwedRoute, usage: Usage): Pick<Settlement, "prices" | "tierAboveTokens" | "ownKey"> {
  if (owed.ownKey === undefined) return tierPrices(owed, usage);
  const { prices: listed, ...tier } = tierPrices(owed.ownKey, usage);
  const listCost = nanoRoundedHalfUp(chargedCost(parsePrices(listed), usage));
  return { ...tier, prices: owed.prices, ownKey: { id: owed.ownKey.id, listCost: cappedAmount(listCost) } };
}

function tierPrices({ prices, tiers }: OwedPrices, { promptTokens }: Usage): Pick<Settlement, "prices" | "tierAboveTokens"> {
  const tier = tierOf(tiers, promptTokens);
  if (tier === null) return { prices };
  const { aboveInputTokens, ...reached } = tier;
  return { prices: reached, tierAboveTokens: aboveInputTokens };
}

/** The prices of a settlement or a spool line, as numbers. */
export function parsePrices({ input, output, cacheRead, cacheWrite }: Settlement["prices"]) {
  return { input: BigInt(input), output: BigInt(output), cacheRead: BigInt(cacheRead), cacheWrite: BigInt(cacheWrite) };
}

/** The maximum of a ledger column. */
export const amountMax = 2n ** 63n - 1n;

function cappedAmount(amount: bigint): string {
  return (amount < amountMax ? amount : amountMax).toString();
}

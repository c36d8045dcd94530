/** Lines of the spool. A line that was cut off by a crash is skipped: what it would have said did not happen. */
import { Type, type Static } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { readSettlement } from "./settlement-codec.ts";
import { Amount, Count, Settlement } from "./settlement.ts";

/** What is owed for an answer is reckoned by whoever serves it. */
export const OwedRoute = Type.Object({ provider: Type.String(), prices: Settlement.properties.prices });
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
  streamed: Type.Boolean(),
  /** What is owed as soon as the request is sent. Absent: no provider is called, or an older version wrote it. */
  owed: Type.Optional(Type.Object({ ...OwedRoute.properties, promptTokens: Count })),
});
export type GenerationIntent = Static<typeof GenerationIntent>;

/** Written before admission is asked: a hold may come of it that this process never hears of. */
export const AdmissionIntent = Type.Object({ workspace: Type.String(), generation: Type.String() });
export type AdmissionIntent = Static<typeof AdmissionIntent>;

/** How far generations are that have an intent and no settlement. The last line that names one stands. */
const ProgressLine = Type.Object({
  /** Their request has not been sent yet. */
  unsent: Type.Array(Type.String()),
  /** Tokens of the prompt, of those the cached ones and those written to the cache, and of what was delivered. */
  delivered: Type.Array(Type.Tuple([Type.String(), Count, Count, Count, Count])),
  /** Served by another route than their intent says. */
  routed: Type.Array(Type.Tuple([Type.String(), OwedRoute])),
});
export type ProgressLine = Static<typeof ProgressLine>;

const Line = Type.Union([
  Type.Object({ kind: Type.Literal("asked"), asked: Type.Array(AdmissionIntent) }),
  Type.Object({ kind: Type.Literal("intent"), intent: GenerationIntent }),
  Type.Object({ kind: Type.Literal("settlement"), settlement: Type.Unknown() }),
  Type.Object({ kind: Type.Literal("progress"), progress: ProgressLine }),
  /** Tests whether the disk takes writes again. */
  Type.Object({ kind: Type.Literal("note") }),
]);
export type SpoolLine = Exclude<Static<typeof Line>, { kind: "settlement" }> | { kind: "settlement"; settlement: Settlement };

const lineCheck = TypeCompiler.Compile(Line);

export function encodeAdmissionLine(intents: AdmissionIntent[]): string {
  return `{"kind":"asked","asked":${JSON.stringify(intents)}}\n`;
}

export function encodeIntentLine(intent: GenerationIntent): string {
  return `{"kind":"intent","intent":${JSON.stringify(intent)}}\n`;
}

/** @param text from `encodeSettlement`: it is written once for spool and bus */
export function encodeSettlementLine(text: string): string {
  return `{"kind":"settlement","settlement":${text}}\n`;
}

export function encodeProgressLine(progress: ProgressLine): string {
  return `{"kind":"progress","progress":${JSON.stringify(progress)}}\n`;
}

export const probeLine = '{"kind":"note"}\n';

/** null: no whole line. */
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

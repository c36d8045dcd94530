/** Lines of the spool. A line that was cut off by a crash is skipped: what it would have said did not happen. */
import { Type, type Static } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Settlement } from "./settlement.ts";

/** Written before a provider is called. */
export const Intent = Type.Object({
  generation: Type.String(),
  request: Type.String(),
  workspace: Type.String(),
  key: Type.String(),
  month: Type.String(),
  fingerprint: Type.String(),
  /** nano-USD. */
  amount: Type.String({ pattern: "^\\d{1,19}$" }),
  /** Milliseconds, the counters' clock. */
  admittedAt: Type.Number(),
  model: Type.String(),
  streamed: Type.Boolean(),
});
export type Intent = Static<typeof Intent>;

const SpoolLine = Type.Union([
  Type.Object({ kind: Type.Literal("intent"), intent: Intent }),
  Type.Object({ kind: Type.Literal("settlement"), settlement: Settlement }),
  /** Tests whether the disk takes writes again. */
  Type.Object({ kind: Type.Literal("note") }),
]);
export type SpoolLine = Static<typeof SpoolLine>;

export function encodeSpoolLine(line: SpoolLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** null: no whole line. */
export function decodeSpoolLine(text: string): SpoolLine | null {
  if (text === "") return null;
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(SpoolLine, value) ? value : null;
  } catch {
    return null;
  }
}

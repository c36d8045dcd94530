/**
 * What gateways report about a workspace, in one message form. A rebuild of counters gets open generations and the times of the last
 * minute's admissions. A recall gets the blocks that end. A credit read gets what open requests hold of blocks, or what they reserve by key,
 * and ends none. Replies are checked when they are read: a wrong one must fail the rebuild, because counters without holds would lend what is
 * spent.
 */
import { Type, type Static } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { BlockReturn, HeldClaim, Hold } from "../../backing/counters.ts";
import type { GenerationId, KeyId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";

const ReportRequest = Type.Object({
  workspace: Type.String(),
  /** Asks only for the blocks of a key, or of all keys if null. Absent: for all that is open. */
  recall: Type.Optional(Type.Object({ key: Type.Union([Type.String(), Type.Null()]) })),
  /** Asks only for the used part of the blocks, and none ends. */
  use: Type.Optional(Type.Literal(true)),
  /** Asks only for what open requests reserve, by key, and changes nothing. */
  byKey: Type.Optional(Type.Literal(true)),
});
export type ReportRequest = Static<typeof ReportRequest>;

const Report = Type.Object({
  holds: Type.Array(
    Type.Object({
      generation: Type.String(),
      fingerprint: Type.String(),
      amount: Type.String(),
      key: Type.String(),
      month: Type.String(),
      admittedAt: Type.Number(),
      deadline: Type.Number(),
    }),
  ),
  windows: Type.Array(Type.Object({ key: Type.String(), times: Type.Array(Type.Number()) })),
  /** Absent: none. */
  blocks: Type.Optional(
    Type.Array(Type.Object({ key: Type.String(), block: Type.String(), keep: Type.String(), times: Type.Array(Type.Number()) })),
  ),
  /** Absent: none. */
  claims: Type.Optional(Type.Array(Type.Object({ claim: Type.String(), generation: Type.String() }))),
});

const BlockUses = Type.Array(
  Type.Object({ block: Type.String(), reserved: Type.String(), taken: Type.Union([Type.String(), Type.Null()]) }),
);

/** What requests hold of a block. */
export interface BlockUse {
  block: GenerationId;
  /** What its open requests reserve. */
  reserved: NanoUsd;
  /** The sum that its requests ever reserved, so that two answers show what was reserved between them; null: only a former process knew it. */
  taken: NanoUsd | null;
}

/**
 * `holds` are generations without a confirmed charge, and blocks; `windows` are the last minute's admission times in ms of the counters'
 * clock; `blocks` are the blocks that end with this report; `claims` are those of the holds, absent where none has one. If all that is open is asked for, the windows have their times.
 */
export interface OpenReport {
  holds: Hold[];
  windows: { key: string; times: number[] }[];
  blocks: BlockReturn[];
  claims?: HeldClaim[];
}

const ReservedByKey = Type.Array(Type.Object({ key: Type.String(), reserved: Type.String() }));

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encodeReportRequest(request: ReportRequest): Uint8Array {
  return encoder.encode(JSON.stringify(request));
}

export function decodeReportRequest(payload: Uint8Array): ReportRequest {
  return Value.Parse(ReportRequest, JSON.parse(decoder.decode(payload)));
}

export function encodeOpenReport(report: OpenReport): Uint8Array {
  const holds = report.holds.map((hold) => ({ ...hold, amount: hold.amount.toString() }));
  const blocks = report.blocks.map((block) => ({ ...block, keep: block.keep.toString() }));
  const { windows, claims = [] } = report;
  return encoder.encode(
    JSON.stringify({ holds, windows, ...(blocks.length > 0 && { blocks }), ...(claims.length > 0 && { claims }) }),
  );
}

export function decodeOpenReport(payload: Uint8Array): OpenReport {
  const report = Value.Parse(Report, JSON.parse(decoder.decode(payload)));
  const holds = report.holds.map((hold) => ({ ...hold, amount: BigInt(hold.amount) }));
  const blocks = (report.blocks ?? []).map((block) => ({ ...block, keep: BigInt(block.keep) }));
  const { windows, claims } = report;
  return { holds, windows, blocks, ...(claims && { claims }) };
}

export function encodeBlockUses(uses: readonly BlockUse[]): Uint8Array {
  const texts = uses.map((use) => ({ ...use, reserved: use.reserved.toString(), taken: use.taken?.toString() ?? null }));
  return encoder.encode(JSON.stringify(texts));
}

export function decodeBlockUses(payload: Uint8Array): BlockUse[] {
  const uses = Value.Parse(BlockUses, JSON.parse(decoder.decode(payload)));
  return uses.map(({ block, reserved, taken }) => {
    return { block, reserved: BigInt(reserved), taken: taken === null ? null : BigInt(taken) };
  });
}

export function encodeReserved(reserved: ReadonlyMap<KeyId, NanoUsd>): Uint8Array {
  return encoder.encode(JSON.stringify(Array.from(reserved, ([key, sum]) => ({ key, reserved: sum.toString() }))));
}

export function decodeReserved(payload: Uint8Array): { key: KeyId; reserved: NanoUsd }[] {
  const sums = Value.Parse(ReservedByKey, JSON.parse(decoder.decode(payload)));
  return sums.map(({ key, reserved }) => ({ key, reserved: BigInt(reserved) }));
}

/** The report that rebuilds counters: a workspace's open generations in this process, and the times of the last minute's admissions. */
import { Type, type Static } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { BlockReturn, Hold } from "../../backing/counters.ts";

const ReportRequest = Type.Object({
  workspace: Type.String(),
  /** Only the blocks of a key, or of all keys where it is null, are asked for. Absent: all that is open. */
  recall: Type.Optional(Type.Object({ key: Type.Union([Type.String(), Type.Null()]) })),
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
  /** Absent: a gateway of before, which is lent nothing. */
  blocks: Type.Optional(
    Type.Array(Type.Object({ key: Type.String(), block: Type.String(), keep: Type.String(), times: Type.Array(Type.Number()) })),
  ),
});

/**
 * `holds` are generations without a confirmed charge, and blocks; `windows` are the last minute's admission times in ms of the counters'
 * clock; `blocks` are the blocks that end with this report. If all that is open is asked for, the windows have their times.
 */
export interface OpenReport {
  holds: Hold[];
  windows: { key: string; times: number[] }[];
  blocks: BlockReturn[];
}

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
  return encoder.encode(JSON.stringify({ holds, windows: report.windows, ...(blocks.length > 0 && { blocks }) }));
}

export function decodeOpenReport(payload: Uint8Array): OpenReport {
  const report = Value.Parse(Report, JSON.parse(decoder.decode(payload)));
  const holds = report.holds.map((hold) => ({ ...hold, amount: BigInt(hold.amount) }));
  const blocks = (report.blocks ?? []).map((block) => ({ ...block, keep: BigInt(block.keep) }));
  return { holds, windows: report.windows, blocks };
}

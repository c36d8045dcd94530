/** The report that rebuilds counters: a workspace's open generations in this process, and the times of the last minute's admissions. */
import { Type, type Static } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Hold } from "../../backing/counters.ts";

const ReportRequest = Type.Object({ workspace: Type.String() });

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
});

/** `holds` are generations without a confirmed charge; `windows` are the last minute's admission times in ms of the counters' clock. */
export interface OpenReport {
  holds: Hold[];
  windows: { key: string; times: number[] }[];
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encodeReportRequest(request: Static<typeof ReportRequest>): Uint8Array {
  return encoder.encode(JSON.stringify(request));
}

export function decodeReportRequest(payload: Uint8Array): Static<typeof ReportRequest> {
  return Value.Parse(ReportRequest, JSON.parse(decoder.decode(payload)));
}

export function encodeOpenReport(report: OpenReport): Uint8Array {
  const holds = report.holds.map((hold) => ({ ...hold, amount: hold.amount.toString() }));
  return encoder.encode(JSON.stringify({ holds, windows: report.windows }));
}

export function decodeOpenReport(payload: Uint8Array): OpenReport {
  const report = Value.Parse(Report, JSON.parse(decoder.decode(payload)));
  return { holds: report.holds.map((hold) => ({ ...hold, amount: BigInt(hold.amount) })), windows: report.windows };
}

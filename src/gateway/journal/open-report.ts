/** The survey that rebuilds counters: which generations of a workspace are open here, and when was the last minute's admitted? */
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

/** `holds` has no charge confirmed yet; `windows` are admission times of the last minute in ms of the counters' clock. */
export interface OpenReport {
  holds: Hold[];
  windows: { key: string; times: number[] }[];
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encodeReportRequest(question: Static<typeof ReportRequest>): Uint8Array {
  return encoder.encode(JSON.stringify(question));
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

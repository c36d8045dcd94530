/**
 * Ids of a trace, made from the id of its generation. So every process knows them without being told, also the successor of a gateway that
 * died, and whoever has the id of a generation finds its trace. Each process also decides alike whether a generation is traced.
 */
import { createHash } from "node:crypto";

export interface TraceIds {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** The span that all others of the trace are in, 16 hexadecimal digits. */
  rootSpanId: string;
}

export function traceIdsOf(generation: string): TraceIds {
  const digest = createHash("sha256").update(generation).digest("hex");
  return { traceId: digest.slice(0, 32), rootSpanId: digest.slice(32, 48) };
}

/** @param share of generations that are traced, 0 to 1 */
export function isTraced({ traceId }: TraceIds, share: number): boolean {
  return parseInt(traceId.slice(0, 8), 16) < share * 2 ** 32;
}

const header = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** Reads the header `traceparent` of https://www.w3.org/TR/trace-context/. null: it is absent or invalid. */
export function readTraceparent(value: string | null): { traceId: string; spanId: string; traceFlags: number } | null {
  const [, traceId = "", spanId = "", flags = ""] = header.exec(value ?? "") ?? [];
  return traceId === "" ? null : { traceId, spanId, traceFlags: parseInt(flags, 16) };
}

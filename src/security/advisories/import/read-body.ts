/** Parses a body with a batch of records. A subprocess does this for large bodies. */
import { advisoryBatchMax } from "../../limits.ts";
import { readRecord } from "./prepared-record.ts";
import { ReadRecord, type ReadBody } from "./subprocess-codec.ts";

/** Reads at most one record more than a batch may have, so that the caller refuses the batch. */
export function readBody(bytes: Uint8Array): ReadBody {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    const reason = error instanceof Error ? error.message : "it cannot be read";
    return { refused: `The body is not valid JSON: ${reason}`, others: [], records: null };
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return { refused: "The body must be a JSON object", others: [], records: null };
  }
  const { records, ...others } = Object.fromEntries(Object.entries(body));
  const list: unknown[] | null = Array.isArray(records) ? records : null;
  return {
    refused: null,
    others: Object.keys(others).slice(0, 1),
    records: list && list.slice(0, advisoryBatchMax + 1).map((record) => new ReadRecord(readRecord(record))),
  };
}

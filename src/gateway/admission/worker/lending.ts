/** Lends blocks of credit and of a key's window to gateways, and takes them back. */
import type { Counters, LendRequest } from "../../../backing/counters.ts";
import { blockLifeMs } from "../../../backing/limits.ts";
import type { Month } from "../../../kernel/clock.ts";
import { budgetsOf } from "../../credit/budgets.ts";
import { keyRecordAgeMsMax } from "../../limits.ts";
import type { AdmissionReply, LendBlock, ReturnBlock } from "../message.ts";
import type { CachedRecord } from "./key-record-cache.ts";

const kept: AdmissionReply = { kind: "kept" };

/** @param ageMs of the record, which the block does not outlive. @returns null where nothing is lent to this key at all */
export function lendRequest(
  { block, least, amount, places, deadline }: LendBlock,
  { record }: CachedRecord,
  { ageMs, month }: { ageMs: number; month: Month },
): LendRequest | null {
  // Budgets count each request in its own period, so each is asked for.
  if (record === null || !record.enabled || record.requestsPerMinute === null || budgetsOf(record) !== null) return null;
  const lifeMs = Math.floor(Math.min(blockLifeMs, keyRecordAgeMsMax - ageMs));
  if (lifeMs <= 0) return null;
  const { workspace, id: key, requestsPerMinute, monthlyLimit: keyLimit, workspaceLimit } = record;
  const limits = { requestsPerMinute, keyLimit, workspaceLimit };
  const wished = { least: BigInt(least), amount: BigInt(amount), places };
  return { workspace, key, block, month, ...limits, ...wished, deadline, lifeMs };
}

/** @throws CountersUnavailableError: it may be lent */
export async function lend(request: LendRequest, counters: Counters): Promise<AdmissionReply> {
  const reply = await counters.lend(request);
  if (reply.outcome === "kept") return kept;
  const { at, amount, places, lifeMs, window } = reply;
  const shown = { limit: request.requestsPerMinute, ...window };
  return { kind: "lent", at, month: request.month, amount: amount.toString(), places, lifeMs, window: shown };
}

/** @throws CountersUnavailableError */
export async function takeBack(returned: ReturnBlock, counters: Counters): Promise<AdmissionReply> {
  const { workspace, key, block, keep } = returned;
  let time = 0;
  const times = returned.times.map((distance) => (time += distance));
  await counters.takeBack({ workspace, returns: [{ key, block, keep: BigInt(keep), times }] });
  return { kind: "done" };
}

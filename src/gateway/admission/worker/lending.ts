/**
 * Lends blocks of credit and of a key's window to gateways, and takes them back (../block.ts says why nothing is overdrawn by that). Blocks
 * exist only far from every bound: a block is at most a fiftieth of what is free, a key needs at least 600 requests a minute, and at most
 * half of its window is used or lent. Keys with budgets or own provider keys get none: each of their requests is counted in its own way.
 * Before a request is refused for what blocks may have, they are recalled: lending pauses for ten seconds, the gateways return the blocks
 * of the key or the workspace, and the request is decided again after their answers, or after 300 ms. So a limit is never reached early
 * because credit lies in a block.
 */
import type { Bus } from "../../../backing/bus.ts";
import type { Counters, LendRequest, AdmitReply } from "../../../backing/counters.ts";
import { blockLifeMs } from "../../../backing/limits.ts";
import type { Month } from "../../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../../kernel/ids.ts";
import type { Logger } from "../../../kernel/log.ts";
import { budgetsOf } from "../../credit/budgets.ts";
import { decodeOpenReport, encodeReportRequest } from "../../journal/open-report.ts";
import { keyRecordAgeMsMax, blockRecallMs } from "../../limits.ts";
import type { CachedRecord } from "../key-cache.ts";
import type { AdmissionReply, LendBlock, ReturnBlock } from "../message.ts";

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

interface RecallParts {
  bus: Pick<Bus, "survey">;
  counters: Pick<Counters, "takeBack">;
  log: Logger;
}

/** Whose blocks are recalled; `key` null: of the whole workspace. */
interface Recall {
  workspace: WorkspaceId;
  key: KeyId | null;
}

/** What must be recalled before this refusal counts; null: nothing, or it is not a refusal. */
export function recallFor(reply: AdmitReply, { workspace, key }: { workspace: WorkspaceId; key: KeyId }): Recall | null {
  if (!("isLent" in reply) || reply.isLent !== true) return null;
  const isOfKey = reply.outcome === "rate_limited" || reply.outcome === "key_spend_limit_exceeded";
  return { workspace, key: isOfKey ? key : null };
}

/**
 * Asks gateways for the blocks of a key or a workspace, because a request would be refused for what they have. Lending pauses first, so
 * that after the recall nothing is lent near the limit.
 */
export class Recalls {
  readonly #parts: RecallParts;
  readonly #running = new Map<string, Promise<true>>();

  constructor(parts: RecallParts) {
    this.#parts = parts;
  }

  /** One at a time of each key and workspace. Never rejects: the request is decided again in any case. */
  run(recall: Recall): Promise<true> {
    const name = `${recall.workspace} ${recall.key}`;
    const current = this.#running.get(name);
    if (current) return current;
    const running = this.#recall(recall)
      .catch((error: unknown) => {
        const facts = { event: "blocks.recall.failed", workspace: recall.workspace, reason: String(error) };
        this.#parts.log.warn(facts, "Not every gateway returned what it was lent");
      })
      .then(() => true as const)
      .finally(() => this.#running.delete(name));
    this.#running.set(name, running);
    return running;
  }

  async #recall({ workspace, key }: Recall): Promise<void> {
    const { bus, counters } = this.#parts;
    await counters.takeBack({ workspace, returns: [], pause: { key } });
    // What a silent gateway was lent stays held; the others return theirs all the same.
    const reports = await bus.survey("open-generations", encodeReportRequest({ workspace, recall: { key } }), blockRecallMs);
    const returns = reports.flatMap((report) => decodeOpenReport(report).blocks);
    if (returns.length > 0) await counters.takeBack({ workspace, returns });
  }
}

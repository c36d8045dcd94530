/**
 * Asks gateways for the blocks of a key or a workspace, because a request would be refused for what they have. Lending pauses first, so
 * that after the recall nothing is lent near the limit.
 */
import type { Bus } from "../../../backing/bus.ts";
import type { AdmitReply, Counters } from "../../../backing/counters.ts";
import type { KeyId, WorkspaceId } from "../../../kernel/ids.ts";
import type { Logger } from "../../../kernel/log.ts";
import { blockRecallMs } from "../../limits.ts";
import { decodeOpenReport, encodeReportRequest } from "../../journal/open-report.ts";

interface RecallParts {
  bus: Pick<Bus, "survey">;
  counters: Pick<Counters, "takeBack">;
  log: Logger;
}

/** Whose blocks are recalled; `key` null: of the whole workspace. */
export interface Recall {
  workspace: WorkspaceId;
  key: KeyId | null;
}

/** What must be recalled before this refusal counts; null: nothing, or it is no refusal. */
export function recallFor(reply: AdmitReply, { workspace, key }: { workspace: WorkspaceId; key: KeyId }): Recall | null {
  if (!("isLent" in reply) || reply.isLent !== true) return null;
  const isOfKey = reply.outcome === "rate_limited" || reply.outcome === "key_spend_limit_exceeded";
  return { workspace, key: isOfKey ? key : null };
}

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

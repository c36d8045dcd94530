/**
 * Books again what the stream of settlements still has, once the database is another server than before: a standby that was promoted or a
 * restored backup may lack charges whose events were acknowledged. What is booked already changes nothing.
 */
import type { Lock } from "../../backing/advisory-lock.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import { ledgerReplayLagMs, ledgerReplayMs } from "../limits.ts";
import type { MaintenanceStore } from "./maintenance-store.ts";
import { settleEvents, type MeteringParts } from "./worker.ts";

export interface ReplayParts extends MeteringParts {
  maintenance: MeteringParts["maintenance"] & Pick<MaintenanceStore, "replayDue" | "finishReplay">;
}

/** Looks every second until disposed. One process of a fleet does it at a time: a second one would only repeat it. */
export function startReplays(parts: ReplayParts & { lock: Lock }): AsyncDisposable {
  const { clock, log, maintenance } = parts;
  /** When this process last found nothing to do, by its time of day; null: never. */
  let inOrderAt: number | null = null;
  return repeatUntilStopped({
    clock,
    everyMs: ledgerReplayMs,
    async round(signal) {
      if ((await maintenance.replayDue()) !== null) {
        await using held = await parts.lock("weir replays");
        if (held === null) return;
        // Whoever had the lock before may have done it.
        await replayWhatIsDue(inOrderAt, signal, parts);
      }
      inOrderAt = clock.now();
    },
    onError: (error) => log.warn({ event: "replay.failed", reason: String(error) }, "Settlements could not be booked again"),
  });
}

/**
 * Where ledgers are known to be behind, all that the stream has is booked again; else what was stored since shortly before the former
 * server was last seen.
 * @param inOrderAt when it was last seen; null: not known
 * @throws when it is not done
 */
export async function replayWhatIsDue(inOrderAt: number | null, signal: AbortSignal, parts: ReplayParts): Promise<void> {
  const { bus, maintenance, log } = parts;
  const due = await maintenance.replayDue();
  if (due === null) return;
  const sinceMs = due.rebuilding.length > 0 || inOrderAt === null ? null : inOrderAt - ledgerReplayLagMs;
  const workspaces = due.rebuilding.length;
  // After an ordinary restart nothing is behind: words of recovery in the log would only worry its reader.
  const level = workspaces > 0 ? "warn" : "debug";
  const why = workspaces > 0 ? "The database went back in time" : "The database was started anew";
  log[level]({ event: "replay.begun", workspaces }, `${why}: settlements that the stream still has are booked, each once`);
  await bus.replay("settlements", { sinceMs, signal, handler: (events) => settleEvents(events, parts) });
  await maintenance.finishReplay(due);
  log[level]({ event: "replay.finished", workspaces }, "Settlements of the stream are booked");
}

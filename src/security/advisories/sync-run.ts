/**
 * Fetches the advisories that a source publishes, at an operator's request.
 *
 * It runs this version's command `advisories sync` in a low-priority process, as the operator would on this machine. So the run has the
 * command's limits, resumes where an earlier run stopped, and its requests take turns with all others. At most one runs in a fleet, within
 * a time limit. Its state is in the database, so that any process can show it; a run whose process died counts as ended. Downloads are
 * stopped and removed when the disk is nearly full, because charges need the space.
 *
 * If the operator has named a source (ADVISORIES_URL), a run starts automatically each day, for the ecosystems in use, EPSS and KEV.
 * Otherwise the service contacts no source unless an operator asks it to.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Database } from "../../backing/backing.ts";
import { DomainError } from "../../accounts/errors.ts";
import type { DiskSpaceGuard } from "../../accounts/quotas/disk-space-guard.ts";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import { newInternalId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import type { Secret } from "../../kernel/secret.ts";
import { shortened } from "../../kernel/text.ts";
import { lowerPriority, splitLines } from "../../process/subprocess.ts";
import * as limits from "../limits.ts";
import * as store from "./sync-store.ts";

interface SyncRun {
  started_at: string;
  /** null: it is running. */
  ended_at: string | null;
  progress: string;
  failure: string | null;
  results: store.SyncResult[];
}

interface SyncRunnerParts {
  sql: Database;
  clock: Clock;
  log: Logger;
  /** This process's address on this machine. */
  url: string;
  /** Authenticates the run at the control API. */
  operatorToken: Secret;
  /** The address that `<ecosystem>/all.zip` is appended to; a mirror has the files of EPSS and KEV below it too. */
  source: string;
  /** Whether a run starts automatically each day. */
  daily: boolean;
  /** Environment variables for proxies and certificates. */
  outbound: Readonly<Record<string, string>>;
  /** The absolute path of the folder for interrupted downloads. */
  folder: string;
  /** The disk of that folder: a download must leave room for charges. */
  disk: Pick<DiskSpaceGuard, "require">;
}

const root = dirname(dirname(dirname(import.meta.dirname)));
const full = "The service's disk is nearly full: what was downloaded is removed";

export class SyncRunner implements Disposable {
  readonly #parts: SyncRunnerParts;
  #child: ChildProcess | null = null;

  #cancelLook: () => void = () => {};

  constructor(parts: SyncRunnerParts) {
    this.#parts = parts;
    if (parts.daily) this.#lookLater();
  }

  get daily(): boolean {
    return this.#parts.daily;
  }

  /**
   * Resolves when the run has begun. @throws DomainError conflict if one is already running; LimitReachedError if the disk is nearly full
   */
  async start(sources: readonly store.SyncSource[]): Promise<void> {
    await this.#parts.disk.require();
    const { sql, clock, log } = this.#parts;
    const nowMs = clock.now();
    const id = newInternalId(nowMs);
    const began = await store.insertSyncRun(
      { id, at: new Date(nowMs), silentSince: new Date(nowMs - limits.advisorySyncSilenceMs) },
      sql,
    );
    if (!began) throw new DomainError("conflict", "Cannot synchronize advisories: a synchronization is running");
    log.info({ event: "advisories.sync", run: id, sources: sources.length });
    void this.#run(id, sources).catch((error: unknown) =>
      log.warn(
        { event: "advisories.sync_lost", run: id, name: error instanceof Error ? error.name : "" },
        "A synchronization of advisories was lost",
      ),
    );
  }

  /** The last run; null: none. One whose process has died counts as ended. */
  async last(): Promise<SyncRun | null> {
    const { sql, clock } = this.#parts;
    const row = await store.selectSyncRun(sql);
    if (row === undefined) return null;
    const isLost = row.endedAt === null && row.seenAt.getTime() < clock.now() - limits.advisorySyncSilenceMs;
    const endedAt = row.endedAt ?? (isLost ? row.seenAt : null);
    return {
      started_at: isoTime(row.startedAt.getTime()),
      ended_at: endedAt && isoTime(endedAt.getTime()),
      progress: row.progress,
      failure: isLost ? "Its process ended: the next one continues" : row.failure,
      results: row.results,
    };
  }

  /** Ends the process; what it downloaded stays for the next run. */
  [Symbol.dispose](): void {
    this.#cancelLook();
    this.#child?.kill("SIGTERM");
  }

  #lookLater(): void {
    this.#cancelLook = this.#parts.clock.after(limits.advisorySyncLookMs, () => {
      this.#lookLater();
      void this.#startIfDue().catch((error: unknown) => {
        // Another gateway was faster, or the disk or the database is not ready: the next check tries again.
        this.#parts.log.info({ event: "advisories.sync_put_off", name: error instanceof Error ? error.name : "" });
      });
    });
  }

  async #startIfDue(): Promise<void> {
    const { sql, clock } = this.#parts;
    const last = await this.last();
    if (last !== null && (last.ended_at === null || clock.now() - Date.parse(last.started_at) < limits.advisorySyncEveryMs))
      return;
    const used = await store.selectUsedEcosystems(sql);
    if (used.length > 0) await this.start([...used, ...store.exploitSources]);
  }

  async #run(id: string, sources: readonly store.SyncSource[]): Promise<void> {
    const { sql, clock, log, disk, folder } = this.#parts;
    const child = this.#spawn(sources);
    this.#child = child;
    let progress = "it begins";
    let stopped: string | null = null;
    const stop = (why: string) => {
      stopped ??= why;
      child.kill("SIGKILL");
    };
    const late = `It took longer than ${limits.advisorySyncMs / 3_600_000} hours: the next one continues`;
    const cancelDeadline = clock.after(limits.advisorySyncMs, () => stop(late));
    let cancelSeen = () => {};
    const seeLater = () => {
      cancelSeen = clock.after(limits.advisorySyncSeenMs, () => {
        void store.updateSyncProgress({ id, at: new Date(clock.now()), progress }, sql).catch(() => {});
        void disk.require().catch(() => stop(full));
        seeLater();
      });
    };
    seeLater();
    try {
      const ended = new Promise<number | null>((resolve, reject) => {
        child.once("error", reject);
        child.once("close", (code) => resolve(code));
      });
      const reading = textOf(child.stdout);
      for await (const line of splitLines(child.stderr)) progress = shortened(line, limits.advisorySyncProgressCharactersMax);
      const [code, output] = [await ended, await reading];
      const results = resultsOf(output);
      if (stopped === full) await rm(folder, { recursive: true, force: true });
      const failure = stopped ?? failureOf({ results, code, progress });
      await store.updateToEnded({ id, at: new Date(clock.now()), failure, results: results ?? [] }, sql);
      const imported = (results ?? []).reduce((sum, one) => sum + one.imported, 0);
      log.info({ event: "advisories.synced", run: id, imported, failed: failure !== null });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      await store.updateToEnded(
        { id, at: new Date(clock.now()), failure: `The command could not be run: ${why}`, results: [] },
        sql,
      );
    } finally {
      cancelDeadline();
      cancelSeen();
      this.#child = null;
    }
  }

  #spawn(sources: readonly store.SyncSource[]) {
    const { url, operatorToken, source, outbound, folder } = this.#parts;
    const words = ["advisories", "sync", "--json", "--ecosystems", sources.join(","), "--from", source, "--folder", folder];
    const child = spawn(process.execPath, ["scripts/weir.ts", ...words], {
      cwd: root,
      // With BUN_FEATURE_FLAG_NO_ORPHANS, a Bun process exits when its parent dies.
      env: {
        ...outbound,
        ...withoutProxy(url, outbound),
        WEIR_URL: url,
        WEIR_TOKEN: operatorToken.reveal(),
        BUN_FEATURE_FLAG_NO_ORPHANS: "1",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (child.pid !== undefined) lowerPriority(child.pid, constants.priority.PRIORITY_LOW);
    return child;
  }
}

/** Empty if it is longer than a result can be. */
async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of stream) {
    bytes += piece.length;
    if (bytes <= limits.advisorySyncOutputBytesMax) pieces.push(piece);
  }
  return bytes <= limits.advisorySyncOutputBytesMax ? Buffer.concat(pieces).toString() : "";
}

/** @returns null if the command ended without a result */
function resultsOf(output: string): store.SyncResult[] | null {
  try {
    const { data } = Object(JSON.parse(output));
    return Array.isArray(data) ? data.map(resultOf) : null;
  } catch {
    return null;
  }
}

/** This version's command wrote it. */
function resultOf(value: unknown): store.SyncResult {
  const { ecosystem, imported = 0, failed = 0, failure } = value as store.SyncResult & { failed?: number };
  return { ecosystem, imported, refused: failed, failure };
}

interface Ending {
  results: store.SyncResult[] | null;
  code: number | null;
  /** The last line that the command wrote. */
  progress: string;
}

function failureOf({ results, code, progress }: Ending): string | null {
  if (results === null) return code === null ? "It was stopped: the next one continues" : progress;
  const failed = results.flatMap(({ ecosystem, failure }) => (failure === null ? [] : [`${ecosystem}: ${failure}`]));
  return failed.length === 0 ? null : shortened(failed.join("; "), 4 * limits.advisorySyncProgressCharactersMax);
}

/** The operator token goes to this process only, never through the outbound proxy. Lower-case variables take precedence. */
function withoutProxy(url: string, outbound: Readonly<Record<string, string>>): Record<string, string> {
  const others = outbound["no_proxy"] ?? outbound["NO_PROXY"];
  const hosts = [...(others ? [others] : []), new URL(url).hostname].join(",");
  return { NO_PROXY: hosts, no_proxy: hosts };
}

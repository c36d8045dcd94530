import type { Logger } from "../../../kernel/log.ts";
import { raiseAlarm } from "../../../kernel/alarm.ts";
import { scanAttemptsMax, scanRetryMs } from "../../limits.ts";
import { Lease, LeaseLostError } from "../../scans/lease.ts";
import { scanProject, type ScanningParts } from "./scan-project.ts";

/**
 * Runs one slice of a scan, for the workspace that was given the least scanner time. A failed scan is retried later, and fails after some
 * attempts. A scan whose process died is taken over after its lease expires.
 * @returns whether a project was due
 * @throws when the database is unreachable
 */
export async function scanNext(parts: ScanningParts & { log: Logger }, signal: AbortSignal): Promise<boolean> {
  const lease = await Lease.take(parts);
  if (lease === null) return false;
  if (lease.attempts > scanAttemptsMax) await giveUp(lease, parts.log);
  else await scan(lease, parts, signal);
  return true;
}

async function scan(lease: Lease, parts: ScanningParts & { log: Logger }, signal: AbortSignal): Promise<void> {
  const { clock, log } = parts;
  const { project } = lease;
  const sinceMs = clock.monotonic();
  try {
    const progress = await scanProject(lease, parts, signal);
    if (progress === null) return;
    const { findings, findingsLeftOut, resolved, unknown, unknownLeftOut } = progress;
    const counts = { findings, findingsLeftOut, resolved, unknown, unknownLeftOut };
    log.info({ event: "scan.completed", project, ...counts, durationMs: Math.round(clock.monotonic() - sinceMs) });
  } catch (error) {
    const { attempts } = lease;
    if (error instanceof LeaseLostError)
      return log.warn({ event: "scan.lost", project, attempts }, "Another scanner has the project");
    if (signal.aborted) return lease.release();
    const { name, code, stack } = describe(error);
    log.warn({ event: "scan.put_off", project, attempts, name, code, stack }, "A scan could not be completed");
    if (attempts >= scanAttemptsMax) await giveUp(lease, log);
    else await lease.retryAfter(scanRetryMs * 2 ** (attempts - 1));
  }
}

async function giveUp(lease: Lease, log: Logger): Promise<void> {
  const { project } = lease;
  await lease.fail(
    `The scan could not be completed in ${scanAttemptsMax} attempts; it is tried again when the SBOM or an advisory about it changes`,
  );
  raiseAlarm(log, "scan.failed", { project, attempts: scanAttemptsMax }, "A project is not scanned");
}

function describe(error: unknown): { name: string; code: string; stack: string | undefined } {
  const cause = error instanceof Error ? error : new Error(String(error));
  return { name: cause.name, code: "code" in cause ? String(cause.code) : "", stack: cause.stack };
}

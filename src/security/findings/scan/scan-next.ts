import type { Logger } from "../../../kernel/log.ts";
import { raiseAlarm } from "../../../kernel/alarm.ts";
import { scanAttemptsMax, scanRetryMs } from "../../limits.ts";
import { Lease, LeaseLostError } from "../../scans/lease.ts";
import { scanProject, type ScanningParts } from "./scan-project.ts";

/**
 * A slice of a scan, of the workspace that had least of scanners' time. A scan that fails is put off, and given up after some attempts;
 * one whose process died is taken up when its lease has run out.
 * @returns whether there was one
 * @throws where the database cannot be asked
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
    const came = { findings, findingsLeftOut, resolved, unknown, unknownLeftOut };
    log.info({ event: "scan.completed", project, ...came, durationMs: Math.round(clock.monotonic() - sinceMs) });
  } catch (error) {
    const { attempts } = lease;
    if (error instanceof LeaseLostError)
      return log.warn({ event: "scan.lost", project, attempts }, "Another scanner has the project");
    if (signal.aborted) return lease.release();
    const { name, code, stack } = describe(error);
    log.warn({ event: "scan.put_off", project, attempts, name, code, stack }, "A scan did not come to its end");
    if (attempts >= scanAttemptsMax) await giveUp(lease, log);
    else await lease.retryAfter(scanRetryMs * 2 ** (attempts - 1));
  }
}

async function giveUp(lease: Lease, log: Logger): Promise<void> {
  const { project } = lease;
  await lease.fail(
    `The scan did not come to its end in ${scanAttemptsMax} attempts; it is tried again when the SBOM or an advisory about it changes`,
  );
  raiseAlarm(log, "scan.failed", { project, attempts: scanAttemptsMax }, "A project is not scanned");
}

function describe(error: unknown): { name: string; code: string; stack: string | undefined } {
  const cause = error instanceof Error ? error : new Error(String(error));
  return { name: cause.name, code: "code" in cause ? String(cause.code) : "", stack: cause.stack };
}

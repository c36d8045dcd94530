/**
 * Runs one slice of one scan. The workspace with the least scanner time comes first.
 *
 * A scan has short, repeatable steps. When its slice ends, or its process dies, any scanner continues after the last committed step. A
 * failed scan is retried after a pause that doubles each time, and given up after some attempts; a scan whose process died is taken over
 * when its lease expires. The alert about new findings is recorded in the transaction that completes the scan, so it is sent if and only if
 * the findings become visible.
 */
import { hasRule, raiseAlert } from "../../../accounts/alerts/alerts.ts";
import { newFindingsText } from "../../../accounts/alerts/words.ts";
import type { Database, Transaction } from "../../../backing/backing.ts";
import { errorCode } from "../../../kernel/error-code.ts";
import { raiseAlarm } from "../../../kernel/metrics.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { Logger } from "../../../kernel/log.ts";
import { shortened } from "../../../kernel/text.ts";
import { scanAttemptsMax, scanRetryMs, scanFindingsMax } from "../../limits.ts";
import { Lease, LeaseLostError } from "../../scans/lease.ts";
import type { ScanProgress } from "../../scans/scan-progress.ts";
import { alertLineCharactersMax, findingsNamedMax } from "../limits.ts";
import { severityOf } from "../schema.ts";
import { matchDocument, resolveUnseen } from "./phases.ts";
import { type Scan, freshTotal } from "./record-matches.ts";
import { deleteUnseenUnknowns } from "./resolve-store.ts";
import { selectFresh, selectProjectName, type FreshFinding } from "./scan-store.ts";

/** Runs one slice. @returns whether a project was due @throws if the database is unreachable */
export async function scanNext(parts: ScanningParts & { log: Logger }, signal: AbortSignal): Promise<boolean> {
  const lease = await Lease.take(parts);
  if (lease === null) return false;
  if (lease.attempts > scanAttemptsMax) await giveUp(lease, parts.log);
  else await scan(lease, parts, signal);
  return true;
}

interface ScanningParts {
  sql: Database;
  clock: Clock;
}

async function giveUp(lease: Lease, log: Logger): Promise<void> {
  const { project } = lease;
  await lease.fail(
    `The scan could not be completed in ${scanAttemptsMax} attempts; it is tried again when the SBOM or an advisory about it changes`,
  );
  raiseAlarm(log, "scan.failed", { project, attempts: scanAttemptsMax }, "A project is not scanned");
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
      return log.warn({ event: "scan.lost", project, attempts }, "Another scanner has the project, or it was removed");
    if (signal.aborted) return lease.release();
    const { name, code, stack } = describe(error);
    log.warn({ event: "scan.put_off", project, attempts, name, code, stack }, "A scan could not be completed");
    if (attempts >= scanAttemptsMax) await giveUp(lease, log);
    else await lease.retryAfter(scanRetryMs * 2 ** (attempts - 1));
  }
}

/**
 * A scan has short, repeatable steps. If the slice ends or the process dies, the scan resumes after the last committed step.
 * @returns the final progress; null: the scan is not finished
 * @throws LeaseLostError, or the signal's reason between two steps
 */
async function scanProject(lease: Lease, parts: ScanningParts, signal: AbortSignal): Promise<ScanProgress | null> {
  const state = await lease.beginOrResume();
  const { sbom } = state.progress;
  const scan: Scan = { ...state, ...parts, lease, sbom, signal };
  const isDone =
    (sbom === null || (await matchUnlessDone({ ...scan, sbom }))) &&
    (await resolveUnseen(scan)) &&
    (await deleteOldUnknowns(scan));
  if (!isDone) {
    await lease.endSlice();
    return null;
  }
  await lease.complete(scan.progress, (tx) => alertFresh(scan, tx));
  return scan.progress;
}

async function matchUnlessDone(scan: Scan & { sbom: string }): Promise<boolean> {
  return scan.progress.cursor?.phase === "rest" || matchDocument(scan);
}

/** Deletes unknown matches of components that the SBOM no longer has, and of records that no longer exist. */
async function deleteOldUnknowns({ lease, at, signal }: Scan): Promise<boolean> {
  for (;;) {
    signal.throwIfAborted();
    const page = { project: lease.project, since: at, limit: scanFindingsMax };
    const gone = await lease.hold((tx) => deleteUnseenUnknowns(page, tx));
    if (gone < scanFindingsMax) return true;
    if (lease.isSliceOver) return false;
  }
}

/** One alert for a scan, in the transaction that completes it. */
async function alertFresh({ lease, workspace, at, progress, clock }: Scan, tx: Transaction): Promise<void> {
  const { fresh, asked } = progress;
  if (freshTotal(fresh) === 0) return;
  const { project } = lease;
  const sources = { sql: tx, clock };
  if (!(await hasRule({ workspace, kind: "new_findings" }, tx))) return;
  const name = await selectProjectName(project, tx);
  const worst = await selectFresh({ project, at, limit: findingsNamedMax }, tx);
  const text = newFindingsText({ id: project, name, counts: { ...fresh } });
  const data = { project: { id: project, name }, new_findings: { ...fresh }, findings: worst.map(viewFresh) };
  const mail = { subject: "A project has new findings", body: mailBody({ text, worst, workspace, project }) };
  await raiseAlert({ workspace, kind: "new_findings", subject: project, occurrence: asked, text, data, mail }, sources);
}

function viewFresh({ id, name, rank, component, version, fixVersion }: FreshFinding) {
  return { id, cve_id: name, severity: severityOf(rank), component, component_version: version, fix_version: fixVersion };
}

interface MailFacts {
  text: string;
  worst: readonly FreshFinding[];
  workspace: string;
  project: string;
}

function mailBody({ text, worst, workspace, project }: MailFacts): string {
  const lines = worst.map(({ name, rank, component, version, fixVersion }) => {
    const fix = fixVersion === null ? "no version with a fix is known" : `upgrade to ${fixVersion}`;
    return shortened(`- ${severityOf(rank) ?? "unknown"}: ${name} in ${component} ${version}, ${fix}`, alertLineCharactersMax);
  });
  return `${text}.

The most severe:

${lines.join("\n")}

All of them:

  finding list --workspace ${workspace} --project ${project} --status live
`;
}

function describe(error: unknown): { name: string; code: string; stack: string | undefined } {
  const cause = error instanceof Error ? error : new Error(String(error));
  return { name: cause.name, code: errorCode(cause), stack: cause.stack };
}

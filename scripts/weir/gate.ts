/**
 * The gate of a build: waits for the scan of a project, and says whether its findings let the build pass.
 *
 * Exit code 3 means findings that --fail-on names. 4 means that nothing could be compared: such a build must not look clean. The wait is
 * bounded, and polls less often the longer it lasts.
 */
import type { VulnerabilityCounts } from "../../src/security/findings/lists/list-rows.ts";
import type { FindingPage } from "../../src/security/findings/lists/search-findings.ts";
import { severities } from "../../src/security/findings/schema.ts";
import { blindness, gaps, withoutAdvisories } from "../../src/security/projects/coverage.ts";
import type { ProjectDetailsView } from "../../src/security/projects/schema.ts";
import { failWords } from "./additions.ts";
import { answerAs, CallError } from "./call.ts";
import { findingTable } from "./print-findings.ts";
import { columns } from "./print.ts";
import { placeOf, readReport, reportFindings, type ReportFields } from "./report.ts";
import type { LocalAnswer, Sending } from "./verb.ts";

const [pollMsFirst, pollMsMax] = [250, 5_000];
const scanWaitMs = 30 * 60_000;
const findingsShown = 50;
/** The exit code for findings that --fail-on names. */
const failedExitCode = 3;
/** The exit code if nothing could be compared: such a build must not look clean. */
const blindExitCode = 4;

type FailWord = (typeof failWords)[number];

export interface Gate {
  failOn: FailWord | null;
  report: ReportFields;
}

/** Separates the gate's fields from the others. @returns `gate` null: nothing to wait for @throws UsageError */
export function readGate(fields: Record<string, unknown>): { gate: Gate | null; rest: Record<string, unknown> } {
  const { report, rest: others } = readReport(fields);
  const { wait = false, fail_on: word, ...rest } = others;
  const failOn = failWords.find((one) => one === word) ?? null;
  const isNeeded = wait === true || failOn !== null || report.format !== null;
  return { gate: isNeeded ? { failOn, report } : null, rest };
}

export interface Gated extends Gate {
  workspace: unknown;
  /** The project's id. */
  project: string;
  /** The answer of the upload, for --json. */
  stored: Record<string, unknown>;
  /** The uploaded file, at which SARIF locates findings unless the user names another; null: none. */
  path: string | null;
  /** What of a repository is not watched, for SARIF. */
  notWatched?: readonly string[];
}

/** @throws CallError also for a scan that fails or takes too long */
export async function passGate(
  { workspace, project: id, stored, path, notWatched = [], failOn, report }: Gated,
  sending: Sending,
): Promise<LocalAnswer> {
  const project = await waitForScan({ workspace, id }, sending);
  const { name, vulnerability_counts: counts } = project;
  const failing = failOn === null ? 0 : countFrom(failOn, counts);
  const blind = blindness(project);
  const unrated = failOn === null || failOn === "any" ? 0 : counts.unknown;
  const left = [...(blind === null ? gaps(project) : [blind]), ...remedies(project), ...unratedText(unrated, failOn)];
  const verdict = [
    ...left,
    ...(failing > 0 ? [`${failing} open ${failing === 1 ? "vulnerability" : "vulnerabilities"} of ${wordsOf(failOn)}`] : []),
  ];
  const exitCode = failOn === null ? 0 : blind !== null ? blindExitCode : failing > 0 ? failedExitCode : 0;
  const query = { workspace, project: id, status: "live" };
  const state = blind === null ? "is scanned" : "cannot be compared with advisories";
  const summary = [`Project ${name} (${id}) ${state}`, columns([Object.keys(counts), Object.values(counts).map(String)])];
  if (report.format !== null) {
    const place = placeOf({ given: report.location ?? path, isSarif: report.format === "sarif" });
    const locationOf = () => place.path ?? name;
    const notes = { isComplete: blind === null, left: [...left, ...notWatched] };
    const answer = await reportFindings({ format: report.format, output: report.output, locationOf, query, notes }, sending.get);
    return { ...answer, errors: [...summary, ...answer.errors, ...place.warnings, ...verdict], exitCode };
  }
  const { data } = answerAs<FindingPage>(await sending.get("/findings", { ...query, limit: findingsShown }));
  return {
    body: {
      ...stored,
      scan_status: project.scan_status,
      vulnerability_counts: counts,
      not_counted: { without_severity: unrated },
      failed: exitCode !== 0,
    },
    text: [...summary, ...(data.length === 0 ? [] : ["", findingTable(data)])].join("\n"),
    errors: verdict,
    exitCode,
  };
}

/** Vulnerabilities without a severity, which a word does not count. Some of them may be severe. */
function unratedText(unrated: number, word: FailWord | null): string[] {
  if (unrated === 0) return [];
  const subject =
    unrated === 1 ? "1 open vulnerability without a severity is" : `${unrated} open vulnerabilities without a severity are`;
  return [`${subject} not counted by --fail-on ${word ?? ""}; --fail-on any counts all`];
}

function remedies(project: ProjectDetailsView): string[] {
  const missing = [...withoutAdvisories(project).keys()];
  return missing.length === 0 ? [] : [`advisories sync --ecosystems ${missing.join(",")} gets them`];
}

async function waitForScan(
  { workspace, id }: { workspace: unknown; id: string },
  { get, showProgress }: Sending,
): Promise<ProjectDetailsView> {
  const untilMs = performance.now() + scanWaitMs;
  let shown = "";
  for (let ms = pollMsFirst; ; ms = Math.min(2 * ms, pollMsMax)) {
    const project = answerAs<ProjectDetailsView>(await get(`/projects/${id}`, { workspace }));
    const { scan_status: status, scan_queue_position: before, scan_failure: failure } = project;
    if (status === "completed" || status === "not_comparable") return project;
    if (status === "failed") throw new CallError(failure ?? "The scan failed");
    if (performance.now() > untilMs)
      throw new CallError(`The scan is not done after ${scanWaitMs / 60_000} minutes: it is ${status}`);
    const progress = before === null || before === 0 ? `Scan ${status}` : `Scan ${status}, ${before} projects before it`;
    if (progress !== shown) showProgress(progress);
    shown = progress;
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

function countFrom(word: FailWord, counts: VulnerabilityCounts): number {
  if (word === "any") return counts.total;
  return severities.slice(0, severities.indexOf(word) + 1).reduce((sum, severity) => sum + counts[severity], 0);
}

function wordsOf(word: FailWord | null): string {
  if (word === "any") return "any severity";
  return word === "critical" ? "severity critical" : `severity ${word} or above`;
}

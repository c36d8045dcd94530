/** Formats projects for people. */
import type { ProjectView } from "../../../src/security/projects/schema.ts";
import { columns } from "../print.ts";

const counted = ["critical", "high", "medium", "low", "unknown"] as const;

/** A line for each project. Control characters of names become spaces. */
export function projectTable(projects: readonly ProjectView[]): string {
  if (projects.length === 0) return "(none)";
  const head = ["ID", "NAME", ...counted.map((word) => word.toUpperCase()), "SCAN", "LAST_SCANNED_AT"];
  const rows = projects.map((project) => [
    project.id,
    project.name.replace(/\p{Cc}+/gu, " "),
    ...counted.map((word) => String(project.vulnerability_counts[word])),
    scanText(project),
    project.last_scanned_at ?? "-",
  ]);
  return columns([head, ...rows]);
}

function scanText({ scan_status: status, scan_queue_position: before }: ProjectView): string {
  return before === null || before === 0 ? status : `${status} (${before} before it)`;
}

/** The control API's document states that its answer has these fields. */
export function projectsFrom(answer: Record<string, unknown>): ProjectView[] {
  return answer["data"] as unknown as ProjectView[];
}

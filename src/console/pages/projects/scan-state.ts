/** The state of a project's scan in a word. */
import { markup, type Html } from "../../../http/html.ts";
import type { ProjectView } from "../../../security/projects/schema.ts";
import { badge } from "../../look/badge.ts";

export function scanBadge({
  scan_status: status,
  scan_queue_position: before,
}: Pick<ProjectView, "scan_status" | "scan_queue_position">): Html {
  if (status === "completed") return badge("good", "scanned");
  if (status === "failed") return badge("bad", "failed");
  if (status === "never") return badge("neutral", "not scanned");
  if (status === "scanning") return badge("neutral", "being scanned");
  const queue = before === null || before === 0 ? null : markup` <span class="under">behind ${before}</span>`;
  return markup`${badge("neutral", "waits")}${queue}`;
}

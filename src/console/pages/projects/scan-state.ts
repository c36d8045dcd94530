/** The state of a project's scan in a word. */
import { markup, type Html } from "../../../http/html.ts";
import type { ProjectView } from "../../../security/projects/schema.ts";
import { badge } from "../../look/badge.ts";

export function scanBadge({
  scan_status: status,
  scan_queue_position: before,
  components_not_compared: left,
}: Pick<ProjectView, "scan_status" | "scan_queue_position" | "components_not_compared">): Html {
  if (status === "not_comparable") return badge("warn", "not comparable");
  if (status === "completed") {
    const words = `${left.toLocaleString("en-US")} ${left === 1 ? "component" : "components"} not compared`;
    return left === 0 ? badge("good", "scanned") : markup`${badge("good", "scanned")} <span class="under">${words}</span>`;
  }
  if (status === "failed") return badge("bad", "failed");
  if (status === "never") return badge("neutral", "not scanned");
  if (status === "scanning") return badge("neutral", "being scanned");
  const queue = before === null || before === 0 ? null : markup` <span class="under">behind ${before}</span>`;
  return markup`${badge("neutral", "waits")}${queue}`;
}

/** Whether no vulnerabilities of the project mean that none is known: it was scanned, and with something to compare. */
export function isVerdict({
  scan_status: status,
  last_scanned_at: at,
}: Pick<ProjectView, "scan_status" | "last_scanned_at">): boolean {
  return at !== null && status !== "not_comparable";
}

/**
 * What happened in a project, newest first: its creation, uploads of SBOMs, decisions about its findings, and accepted risks that ended.
 * What scans found is not among it: a scan changes thousands of findings, and each finding has its own history.
 *
 * A decision about several findings at one moment is one entry. A page reads a bounded number of events; one that is cut off in the middle
 * of a moment leaves that moment to the next page, unless it is the only one, which is then counted in part.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../backing/backing.ts";
import { text, textOrNull } from "../../http/json-schema.ts";
import { isoTime } from "../../kernel/clock.ts";
import { ChangeView, viewChanges } from "../findings/schema.ts";
import { activityKinds, selectEntries, type ActivityQuery } from "./activity-store.ts";

export const ActivityView = Type.Object({
  at: text("When, ISO 8601 in UTC"),
  actor: textOrNull("E-mail address of the person, operator, or scanner; null: not known"),
  what: Type.Unsafe<(typeof activityKinds)[number]>(
    Type.Union(
      activityKinds.map((kind) => Type.Literal(kind)),
      { description: "What happened" },
    ),
  ),
  findings: Type.Integer({ description: "Findings that it changed; 0 for other kinds" }),
  finding_id: textOrNull("One of these findings"),
  cve_id: textOrNull("Its vulnerability"),
  component: textOrNull("Its component, as name@version"),
  changes: Type.Array(ChangeView, { description: "What changed of it" }),
  sbom_id: textOrNull("The uploaded SBOM"),
  filename: textOrNull("The name of its file"),
});
export type ActivityView = Static<typeof ActivityView>;

export async function listActivity(listed: ActivityQuery, sql: Queries): Promise<ActivityView[]> {
  const rows = await selectEntries(listed, sql);
  return rows.map(({ at, actor, what, findings, finding, issue, component, changes, sbom, filename }) => ({
    at: isoTime(at.getTime()),
    actor,
    what,
    findings,
    finding_id: finding,
    cve_id: issue,
    component,
    changes: changes === null ? [] : viewChanges(changes),
    sbom_id: sbom,
    filename,
  }));
}

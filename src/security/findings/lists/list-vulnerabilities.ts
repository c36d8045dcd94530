import { Type } from "@sinclair/typebox";
import { listRowsMax } from "../../../http/limits.ts";
import { vulnerabilityRowsDefault } from "../../limits.ts";
import { decimal, oneOf } from "../../api/operations/fields.ts";
import { operation, reading } from "../../api/operations/operation.ts";
import { listData, nextOffset, pageFields, shortPageAnswer } from "../../api/operations/page.ts";
import { ecosystemNames } from "../ecosystem-names.ts";
import { findVulnerabilities } from "./find-vulnerabilities.ts";
import { listMessage } from "./list-message.ts";
import { blindProjects } from "./blind-projects.ts";
import { activeScope } from "./list-scope.ts";
import { severities } from "../severity.ts";
import { VulnerabilityRow } from "./vulnerability-row.ts";

export const listVulnerabilities = operation({
  title: "List vulnerabilities",
  description:
    "Lists the vulnerabilities that components of the active scope have, one row for each, the most severe first: those with a " +
    "finding that is open or in progress and no false positive. list_findings lists where they are.",
  annotations: reading,
  input: Type.Object({
    severity: oneOf([...severities, "all"], { title: "Of this severity; `all` includes those without one", normal: "all" }),
    ecosystem: oneOf([...ecosystemNames, "all"], { title: "With an affected component of this ecosystem", normal: "all" }),
    cvss_min: Type.Optional(decimal({ title: "With at least this CVSS score; 0 includes all", min: 0, max: 10 })),
    ...pageFields({ normal: vulnerabilityRowsDefault, max: listRowsMax }),
  }),
  data: listData("vulnerabilities", VulnerabilityRow, { next_offset: nextOffset }),
  async handle({ input, caller, isForMcp, parts: { sql } }) {
    const { severity, ecosystem, cvss_min: least = 0, limit, offset } = input;
    const query = {
      scope: activeScope(caller),
      severity,
      ecosystem,
      scoreMin: tenths(least),
      page: { limit, offset },
      isShortened: isForMcp,
    };
    const { total, unnamed, rows, cut } = await findVulnerabilities(query, sql);
    const page = shortPageAnswer({ limit, offset }, { total, rows: rows.length });
    const narrowed = severity !== "all" || ecosystem !== "all" || least > 0;
    const message = listMessage({
      plural: "vulnerabilities",
      page,
      rows: rows.length,
      cut,
      emptyAdvice: narrowed ? 'Ask again with severity and ecosystem "all" and without cvss_min' : null,
      blind: total > 0 ? null : await blindProjects(query.scope, sql),
      more: ecosystem === "all" ? null : `${unnamed} more carry no ecosystem and are left out by this filter`,
    });
    return { data: { vulnerabilities: rows, ...page }, message };
  },
});

/** The lowest score with one decimal that is not below `score`, times ten: 0.7 gives 7, though 0.7 * 10 is a little more. */
function tenths(score: number): number {
  return Math.ceil(Number((score * 10).toFixed(6)));
}

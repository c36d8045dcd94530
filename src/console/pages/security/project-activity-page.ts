/** How a project fared: its open findings day by day, and what people did, newest first: uploads, decisions, accepted risks that ended. */
import { projectPartEndpoints } from "../../../control-api/endpoints/projects.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { ActivityView } from "../../../security/projects/activity.ts";
import { address } from "../../look/forms.ts";
import { chart, chartScript } from "../../look/charts.ts";
import { cursorLinks, day, emptyState, shortDay, table, time, userText } from "../../look/parts.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { pageRows } from "../rows-query.ts";
import { changesOf } from "./finding-page.ts";
import { projectContent, projectId, projectTab } from "./project-frame.ts";

export const projectActivityPage: Page = {
  ...projectTab,
  path: "/projects/:id/activity",
  scripts: [...projectTab.scripts, chartScript],
  render,
};

function render(call: PageCall): Promise<PageContent> {
  return projectContent(call, {
    path: "/activity",
    body: async () => {
      const before = call.query.get("before") ?? "";
      const { data } = await call.control(projectPartEndpoints.activity, {
        id: projectId(call),
        limit: String(pageRows + 1),
        ...(before !== "" && { before }),
      });
      const shown = data.slice(0, pageRows);
      const last = shown.at(-1);
      const links = cursorLinks({
        shown: `${shown.length} entries`,
        firstPath: before === "" ? null : call.path,
        nextPath: data.length > pageRows && last !== undefined ? address(call.path, { before: last.at }) : null,
      });
      return markup`${before === "" ? await trend(call) : null}${entries(shown, call)}${links}`;
    },
  });
}

/** The live findings of the last days; what the project did not have then is zero. */
async function trend(call: PageCall): Promise<Html> {
  const { data } = await call.control(projectPartEndpoints.trend, { id: projectId(call) });
  const words = (value: bigint): string => value.toLocaleString("en-US");
  const levels = ["critical", "high", "medium", "low", "unknown"] as const;
  return chart({
    id: "trend",
    title: "Open findings by severity, at the end of each day",
    shape: "bars",
    periodName: "Day (UTC)",
    ofSeverities: true,
    periods: data.map(({ day: date }) => ({ name: day(date), short: shortDay(date), path: null })),
    series: levels.map((level) => ({ label: level, values: data.map((one) => BigInt(one[level])), total: null })),
    words,
    notes: ["Each finding counts with the severity that it has today."],
    empty: emptyState("No finding was open in the last 30 days.", null),
  });
}

function entries(rows: readonly ActivityView[], call: PageCall): Html {
  return table<ActivityView>({
    caption: "Activity",
    columns: [
      { label: "When", kind: "time", cell: ({ at }) => time(at) },
      { label: "Who", kind: "text", cell: ({ actor }) => (actor === "scanner" ? markup`The scanner` : actor) },
      { label: "What", kind: "text", cell: (entry) => what(entry, call) },
      { label: "Changes", kind: "text", cell: ({ changes }) => (changes.length === 0 ? null : changesOf(changes)) },
    ],
    rows,
    empty: emptyState("Nothing has happened yet.", null),
  });
}

function what({ what: kind, filename, findings, finding_id: id, cve_id: name, component }: ActivityView, call: PageCall): Html {
  if (kind === "project_created") return markup`created the project`;
  if (kind === "sbom_uploaded") return markup`uploaded the SBOM ${filename === null ? null : userText(filename)}`;
  const one = markup`<a href="${call.link(`/findings/${id ?? ""}`)}">${userText(name ?? "")}</a> in ${userText(component ?? "")}`;
  const others = findings > 1 ? markup` and ${findings - 1} more` : null;
  return kind === "decided"
    ? markup`decided about ${one}${others}`
    : markup`opened ${one}${others} again: the accepted risk has ended`;
}

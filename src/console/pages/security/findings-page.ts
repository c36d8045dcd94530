/**
 * The findings of a workspace: the list of `finding-list.ts` over all projects, and its files. It refreshes itself with what scans find and
 * people decide.
 */
import { selectNewestAudit } from "../../../accounts/audit/store.ts";
import { findingEndpoints } from "../../../control-api/endpoints/findings.ts";
import { markup } from "../../../http/html.ts";
import { asset } from "../../../http/page.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { exportMenu, findingCsv, findingFiles } from "./finding-files.ts";
import { findingList, scopeIn, triageListed } from "./finding-list.ts";

const everywhere = (call: PageCall) => ({ call, project: null });

export const findingsPage: Page = {
  of: "workspace",
  path: "/findings",
  list: "findings",
  navigation: { section: "Security", label: "Findings", icon: "findings" },
  reference: "tools",
  roles: ["member", "auditor", "admin", "super_admin"],
  scripts: [asset("script", [new URL("findings.js", import.meta.url)])],
  changes,
  render,
  actions: { triage: triageListed },
  csv: (call) => findingCsv(everywhere(call)),
  files: findingFiles(everywhere),
};

async function render(call: PageCall): Promise<PageContent> {
  return {
    title: "Findings",
    lead: "A finding is a vulnerability in a component of a project. The list begins with what is left to do: open or in progress.",
    actions: exportMenu(everywhere(call)),
    main: markup`${await findingList(everywhere(call))}`,
  };
}

/** Decisions are in the audit log, and what a scan finds is in the counts. Each minute it asks anew, as other live pages do. */
async function changes(call: PageCall): Promise<string | null> {
  const { query, workspace, nowMs, parts } = call;
  // Later parts of the list do not refresh.
  if (query.has("after") || query.has("skip")) return null;
  const [counts, decided] = await Promise.all([
    call.control(findingEndpoints.count, scopeIn(everywhere(call))),
    selectNewestAudit(workspace.id, parts.control.sql),
  ]);
  return JSON.stringify([Math.floor(nowMs / 60_000), counts, decided]);
}

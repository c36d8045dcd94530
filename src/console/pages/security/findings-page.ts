/** The findings of a workspace: the list of `finding-list.ts` over all projects, and its files. */
import { markup } from "../../../http/html.ts";
import { asset } from "../../../http/page.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { exportMenu, findingCsv, findingSarif, findingVex } from "./finding-files.ts";
import { findingList, triageListed } from "./finding-list.ts";

const everywhere = (call: PageCall) => ({ call, project: null });

export const findingsPage: Page = {
  of: "workspace",
  path: "/findings",
  navigation: { section: "Security", label: "Findings", icon: "findings" },
  roles: ["member", "auditor", "admin", "super_admin"],
  scripts: [asset("script", [new URL("findings.js", import.meta.url)])],
  render,
  actions: { triage: triageListed },
  csv: (call) => findingCsv(everywhere(call)),
  files: { sarif: (call) => findingSarif(everywhere(call)), vex: (call) => findingVex(everywhere(call)) },
};

async function render(call: PageCall): Promise<PageContent> {
  return {
    title: "Findings",
    lead: "A finding is a vulnerability in a component of a project. The list begins with what is left to do: open or in progress.",
    actions: exportMenu(everywhere(call)),
    main: markup`${await findingList(everywhere(call))}`,
  };
}

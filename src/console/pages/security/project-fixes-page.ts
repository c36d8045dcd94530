/**
 * The fix plan of a project: one version for each vulnerable component that clears all of its open findings, and how it got into the project.
 * Those with the most severe findings come first.
 */
import { projectPartEndpoints } from "../../../control-api/endpoints/projects.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FixPlan } from "../../../security/findings/details/fix-plan.ts";
import { address } from "../../look/forms.ts";
import { badge, emptyState, table, userText, type Tone } from "../../look/parts.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { pageRows, rowsInput, rowsLinks } from "../rows-query.ts";
import { projectContent, projectId, projectPath, projectTab } from "./project-frame.ts";
import { severityBadge } from "./words.ts";

export const projectFixesPage: Page = { ...projectTab, path: "/projects/:id/fixes", render };

type Fix = FixPlan["data"][number];

function render(call: PageCall): Promise<PageContent> {
  return projectContent(call, {
    path: "/fixes",
    body: async () => {
      const { data, total } = await call.control(projectPartEndpoints.fixes, { id: projectId(call), ...rowsInput(call) });
      const shown = data.slice(0, pageRows);
      const cleared = shown.reduce((sum, { fix_version: fix, open_findings: open }) => sum + (fix === null ? 0 : open), 0);
      const open = shown.reduce((sum, { open_findings: count }) => sum + count, 0);
      const upgrades = shown.filter(({ fix_version: fix }) => fix !== null).length;
      const lead =
        shown.length === 0
          ? null
          : markup`<p>${upgrades} ${upgrades === 1 ? "upgrade clears" : "upgrades clear"} ${cleared} of ${open} open findings${total > shown.length ? " on this page" : ""}.</p>`;
      return markup`${lead}${plan(shown, call)}${data.length === 0 ? null : rowsLinks(call, { found: data.length, what: "Components" })}`;
    },
  });
}

function plan(rows: readonly Fix[], call: PageCall): Html {
  return table<Fix>({
    caption: "Fix plan",
    columns: [
      { label: "Component", kind: "text", cell: ({ component, version }) => `${component} ${version}`.trim() },
      { label: "Worst", kind: "badge", cell: ({ severity }) => severityBadge(severity) },
      { label: "Upgrade to", kind: "text", cell: upgrade },
      { label: "Step", kind: "badge", cell: ({ step }) => (step === null ? null : badge(stepTones[step] ?? "neutral", step)) },
      {
        label: "Open findings",
        kind: "number",
        cell: ({ component, open_findings: count }) =>
          markup`<a href="${address(projectPath(call), { component })}">${count.toLocaleString("en-US")}</a>`,
      },
      { label: "How it is used", kind: "text", cell: usage },
    ],
    rows,
    empty: emptyState("Nothing is open, so there is nothing to upgrade.", null),
  });
}

/** How likely an upgrade breaks something. */
const stepTones: Record<string, Tone> = { patch: "good", minor: "neutral", major: "warn" };

function upgrade({ fix_version: fix, prerelease, reason }: Fix): Html {
  if (fix === null) return markup`<span class="none">${reason === null ? "no version" : userText(reason)}</span>`;
  return markup`<strong>${userText(fix)}</strong>${prerelease ? markup` <span class="under">a prerelease</span>` : null}`;
}

const relations: Record<string, string> = { root: "the project itself", direct: "directly", unknown: "not known" };

function usage({ relation, path }: Fix): Html {
  if (relation === null) return markup`<span class="none">no longer in the SBOM</span>`;
  if (relation !== "transitive") return markup`${relations[relation] ?? relation}`;
  // The root is the project; of a long path, the first step is cut off.
  const steps = path.slice(path[0] === "…" ? 0 : 1, -1);
  return steps.length === 0 ? markup`through others` : markup`through ${userText(steps.join(" → "))}`;
}

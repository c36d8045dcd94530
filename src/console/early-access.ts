/** Pages in early access: where a workspace has the feature off, the page says so, and the operator switches it on there. */
import type { WorkspaceView } from "../accounts/workspaces/schema.ts";
import type { EarlyAccessFeature } from "../accounts/workspaces/workspaces.ts";
import { DomainError } from "../accounts/errors.ts";
import { markup } from "../http/html.ts";
import { actionButton } from "./look/forms/form.ts";
import { emptyState } from "./look/states.ts";
import { hiddenFields } from "./page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "./page.ts";
import { isOperator } from "./viewer.ts";

/** What a page does for a workspace: all of it, or where it is off, only the way to switch it on. */
export type ServedPage = Pick<Page, "render" | "actions" | "csv">;

export async function servedPage(page: Page, call: PageCall): Promise<ServedPage> {
  const { earlyAccess: feature } = page;
  if (feature === undefined || (await isOn(feature, call))) return page;
  return {
    render: async () => offContent(page, feature, call),
    actions: { "switch-on": () => switchOn(feature, call) },
    async csv() {
      throw new DomainError("forbidden", "This page is in early access and off for this workspace");
    },
  };
}

function workspacePath({ workspace }: PageCall): string {
  return `/workspaces/${encodeURIComponent(workspace.id)}`;
}

async function isOn(feature: EarlyAccessFeature, call: PageCall): Promise<boolean> {
  const { early_access: on } = await call.control<WorkspaceView>("GET", workspacePath(call));
  return on.includes(feature);
}

function offContent({ navigation }: Page, feature: EarlyAccessFeature, call: PageCall): PageContent {
  const words = markup`This page is in early access, and off for this workspace.${isOperator(call.viewer) ? null : markup` The operator can switch it on, also by <code>--early-access ${feature}</code> of <code>workspace set</code>.`}`;
  const hidden = hiddenFields(call, "switch-on");
  const button = isOperator(call.viewer) ? actionButton({ action: call.path, label: "Switch it on", hidden }) : null;
  return { title: navigation?.label ?? "Early access", main: emptyState(words, button) };
}

/** The other features stay. @throws DomainError forbidden */
async function switchOn(feature: EarlyAccessFeature, call: PageCall): Promise<ActionResult> {
  if (!isOperator(call.viewer)) throw new DomainError("forbidden", "Only the operator switches early access on");
  const { early_access: on } = await call.control<WorkspaceView>("GET", workspacePath(call));
  await call.control("PATCH", workspacePath(call), { early_access: [...on, feature] });
  return { goTo: call.path, said: "It is switched on for the workspace." };
}

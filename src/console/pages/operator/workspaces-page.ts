/** All workspaces with their money, and the form that opens another one. */
import type { WorkspaceView } from "../../../accounts/workspaces/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import { badge } from "../../look/badge.ts";
import { dialog, opener } from "../../look/dialog.ts";
import { form } from "../../look/forms/form.ts";
import { money } from "../../look/money.ts";
import { emptyState } from "../../look/states.ts";
import { table } from "../../look/table.ts";
import { userText } from "../../look/user-text.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { workspacePath } from "../../redirect.ts";

const shared = { of: "operator", roles: [], actions: { open: openWorkspace } } as const;

export const workspacesPage: Page = {
  ...shared,
  path: "/",
  navigation: { section: "Operator", label: "Workspaces", icon: "operator" },
  render,
};

/** For browsers without script, where the dialog cannot open. */
export const newWorkspacePage: Page = {
  ...shared,
  path: "/workspaces/new",
  navigation: null,
  async render(call) {
    return { title: "Create a workspace", trail: trail(call), main: newWorkspaceForm(call, call.link("/workspaces/new")) };
  },
};

export function trail(call: PageCall) {
  return [{ path: call.link(""), label: "Workspaces" }];
}

async function render(call: PageCall): Promise<PageContent> {
  const { data } = await call.control<{ data: WorkspaceView[] }>("GET", "/workspaces");
  const open = opener({ dialog: "new-workspace", path: call.link("/workspaces/new"), label: "Create a workspace" });
  const body = newWorkspaceForm(call, call.link(""));
  return {
    title: "Workspaces",
    lead: "Each workspace has its own members, keys and credit.",
    actions: open,
    main: markup`${list(data, call, open)}${dialog({ id: "new-workspace", title: "Create a workspace", body, asks: "changes", opensAtOnce: call.refused?.action === "open" })}`,
  };
}

function list(rows: readonly WorkspaceView[], call: PageCall, open: Html): Html {
  const name = ({ id, name: label }: WorkspaceView): Html =>
    markup`<a href="${call.link(`/workspaces/${id}`)}">${userText(label)}</a>`;
  return table<WorkspaceView>({
    caption: "Workspaces",
    columns: [
      { label: "Name", kind: "text", cell: name },
      { label: "Platform", kind: "badge", cell: ({ enabled }) => (enabled ? badge("good", "on") : badge("neutral", "off")) },
      { label: "Balance", kind: "money", cell: ({ balance_usd: usd }) => money(usd) },
      { label: "Reserved", kind: "money", cell: ({ reserved_usd: usd }) => money(usd, "unknown") },
      { label: "Spent this month", kind: "money", cell: ({ month_spent_usd: usd }) => money(usd) },
      { label: "Spend limit", kind: "money", cell: ({ spend_limit_usd: usd }) => money(usd) },
      {
        label: "Go to",
        kind: "actions",
        cell: ({ name: label }) => markup`<a href="${workspacePath(label)}">Open<span class="unseen"> ${label}</span></a>`,
      },
    ],
    rows,
    empty: emptyState("There is no workspace yet.", open),
  });
}

function newWorkspaceForm(call: PageCall, action: string): Html {
  return form({
    id: "new-workspace",
    action,
    hidden: hiddenFields(call, "open"),
    fields: [
      { kind: "text", name: "name", label: "Name", required: true, charactersMax: 200 },
      { kind: "money", name: "credit_usd", label: "First credit in USD", hint: "If empty, it begins without credit." },
    ],
    state: formState(call, { action: "open" }),
    submit: "Create",
    cancelPath: call.link(""),
  });
}

async function openWorkspace(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const credit = typed.text("credit_usd");
  const view = await call.control<WorkspaceView>("POST", "/workspaces", {
    name: typed.text("name"),
    ...(credit !== "" && { credit_usd: credit }),
  });
  return { goTo: call.link(`/workspaces/${view.id}`), said: `The workspace “${view.name}” is created. Add its members next.` };
}

/**
 * Saved views: how a member arranged a list, by a name. The links are above each such list, and beside its heading is a form that saves
 * what its address says, if no view says it yet. This page renames and deletes them. One view of a list may be the one that the menu
 * opens; other links lead to the list itself, so that clearing its filters shows all of it. A list without views and filters looks as if
 * there were none.
 */
import { canonicalQuery } from "../../../accounts/members/saved-views.ts";
import type { SavedList, SavedView } from "../../../accounts/workspaces/schema.ts";
import { savedViewNameCharactersMax } from "../../../accounts/limits.ts";
import { viewEndpoints } from "../../../control-api/endpoints/views.ts";
import { markup, type Html } from "../../../http/html.ts";
import { actionButton, address, fieldElement, form, hiddenInputs, type Field, type FormState } from "../../look/forms.ts";
import { badge, dialog, emptyState, opener, table, userText } from "../../look/parts.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, FormFields, Page, PageCall, PageContent } from "../../page.ts";
import { isOperator } from "../../viewer.ts";

export const savedViewsPage: Page = {
  of: "workspace",
  path: "/views",
  navigation: null,
  reference: "control-accounts",
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
  actions: { save, edit, delete: remove },
};

const labels: Record<SavedList, string> = {
  components: "Components",
  connections: "Connections",
  findings: "Findings",
  keys: "Keys",
  members: "Members",
  projects: "Projects",
  "provider-keys": "Provider keys",
  requests: "Requests",
  statements: "Statements",
  vulnerabilities: "Vulnerabilities",
};

export function listName(list: SavedList): string {
  return labels[list];
}

const nameField: Field = { name: "name", label: "Name", kind: "text", required: true, charactersMax: savedViewNameCharactersMax };
const newNameField: Field = { ...nameField, hint: "It replaces a view of the same name." };
const defaultField: Field = { name: "default", label: "Open the list with it from the menu", kind: "check" };

// Above a list.

/** A page with the saved views of its list above what it shows. */
export async function withSavedViews(content: PageContent, list: SavedList, call: PageCall): Promise<PageContent> {
  if (isOperator(call.viewer)) return content;
  const { data: views } = await call.control(viewEndpoints.list, { list });
  const current = arrangementOf(call.query);
  const save = current === "" || views.some(({ query }) => query === current) ? null : saveForm(call, { list, query: current });
  const links = views.length === 0 ? null : viewLinks(views, { list, current, call });
  const { actions = null, main } = content;
  return {
    ...content,
    actions: save === null ? actions : markup`${save}${actions}`,
    main: markup`${links}${main}`,
  };
}

/** What an address says about its list, without the place in it. */
function arrangementOf(query: URLSearchParams): string {
  const places = new Set(["after", "before", "skip", "as", "open"]);
  return canonicalQuery(new URLSearchParams([...query].filter(([name]) => !places.has(name))));
}

function viewLinks(
  views: readonly SavedView[],
  { list, current, call }: { list: SavedList; current: string; call: PageCall },
): Html {
  const link = (path: string, name: string, query: string): Html =>
    markup`<li><a href="${path}"${query === current ? markup` aria-current="page"` : null}>${userText(name)}</a></li>`;
  const own = views.map((view) => link(pathOf(view, call), view.name, view.query));
  return markup`<nav class="saved" aria-label="Saved views"><ul role="list">${link(call.link(`/${list}`), `All ${labels[list].toLowerCase()}`, "")}${own}
    <li><a href="${call.link("/views")}">Edit views</a></li></ul></nav>`;
}

function pathOf({ list, query }: Pick<SavedView, "list" | "query">, call: PageCall): string {
  return `${call.link(`/${list}`)}?${query}`;
}

/** A refusal shows the page of the views, with what was typed. */
function saveForm(call: PageCall, { list, query }: Pick<SavedView, "list" | "query">): Html {
  const place = { prefix: "save-view", value: "", problem: null };
  const hidden = hiddenFields(call, "save", { list, query });
  return markup`<details class="view"><summary class="button quiet">Save view</summary>
    <form method="post" action="${call.link("/views")}">${hiddenInputs(hidden)}
      ${fieldElement(newNameField, place)}${fieldElement(defaultField, place)}
      <p class="form-end"><button type="submit">Save</button></p>
    </form></details>`;
}

// The page of all views.

async function render(call: PageCall): Promise<PageContent> {
  const lead = "How you arranged lists: their filters, order and columns. Only you see your views.";
  if (isOperator(call.viewer))
    return { title: "Saved views", lead, main: emptyState("Saved views belong to members, and the operator has none.", null) };
  const { data } = await call.control(viewEndpoints.list);
  const views = data.filter(({ list }) => call.offers(`/${list}`));
  return {
    title: "Saved views",
    lead,
    main: markup`${refusedSave(call)}${viewTable(views, call)}${views.map((view) => viewDialog(view, call))}`,
  };
}

function refusedSave(call: PageCall): Html | null {
  if (call.refused?.action !== "save") return null;
  const { list = "", query = "" } = call.refused.form.values();
  return form({
    id: "save",
    action: call.path,
    hidden: hiddenFields(call, "save", { list, query }),
    fields: [newNameField, defaultField],
    state: formState(call, { action: "save" }),
    submit: "Save view",
    cancelPath: call.path,
  });
}

function viewTable(views: readonly SavedView[], call: PageCall): Html {
  return table<SavedView>({
    caption: "Saved views",
    columns: [
      { label: "View", kind: "text", cell: (view) => markup`<a href="${pathOf(view, call)}">${userText(view.name)}</a>` },
      { label: "List", kind: "text", cell: ({ list }) => labels[list] },
      { label: "What it shows", kind: "text", cell: ({ query }) => wordsOf(query) },
      { label: "Menu", kind: "badge", cell: ({ default: opens }) => (opens ? badge("neutral", "opens with it") : null) },
      {
        label: "Edit",
        kind: "actions",
        cell: ({ id, name }) =>
          opener({ dialog: id, path: address(call.path, { open: id }), label: "Edit", what: name, quiet: true }),
      },
    ],
    rows: views,
    empty: emptyState(
      "No saved views yet. Filter or sort a list, or choose its columns, and save that by a name above it.",
      null,
    ),
  });
}

/** Such as `severity: critical, sort: -epss`. */
function wordsOf(query: string): string {
  return [...new URLSearchParams(query)].map(([name, value]) => `${name}: ${value}`).join(", ");
}

function viewDialog(view: SavedView, call: PageCall): Html {
  const { id, name } = view;
  const state: FormState = formState(call, {
    action: "edit",
    values: { name, default: String(view.default) },
    same: (typed) => typed.text("id") === id,
  });
  const body = markup`${form({ id: `of-${id}`, action: call.path, hidden: hiddenFields(call, "edit", { id }), fields: [nameField, defaultField], state, submit: "Save", cancelPath: call.path })}
    <div class="form-end">${actionButton({ action: call.path, label: "Delete this view", hidden: hiddenFields(call, "delete", { id }) })}</div>`;
  const opensAtOnce = state.problem !== null || call.query.get("open") === id;
  return dialog({ id, title: name, body, asks: "changes", opensAtOnce });
}

async function save(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const opens = typed.has("default") ? { default: true } : {};
  const view = await call.control(viewEndpoints.save, {
    list: typed.text("list"),
    name: typed.text("name"),
    query: typed.text("query"),
    ...opens,
  });
  return { goTo: pathOf(view, call), said: `The view “${view.name}” is saved.` };
}

async function edit(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const opens = typed.text("default") === "true";
  const view = await call.control(viewEndpoints.edit, { id: typed.text("id"), name: typed.text("name"), default: opens });
  return { goTo: call.path, said: `The view “${view.name}” is saved.` };
}

async function remove(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const { name } = await call.control(viewEndpoints.delete, { id: typed.text("id") });
  return { goTo: call.path, said: `The view “${name}” is deleted.` };
}

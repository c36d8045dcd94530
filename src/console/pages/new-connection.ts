/**
 * Connecting a vendor: it is found by a search, its form is filled in, saved, and tested at once where there is a test. The form is that
 * of the vendor's public page, whose link leads to the choice of a workspace here. Secrets that were typed are not written into the page
 * again.
 */
import { labelsOf } from "../../connectors/catalog/files/columns.ts";
import type { CredentialSet } from "../../connectors/catalog/files/schema.ts";
import type { ConnectorRow } from "../../connectors/catalog/row.ts";
import { credentialCharactersMax, credentialTextCharactersMax } from "../../connectors/limits.ts";
import { hintsOf, isLong } from "../../connectors/pages/credential-form.ts";
import { grantOfSet } from "../../connectors/pages/set-up-page.ts";
import { connectionEndpoints } from "../../control-api/endpoints/connections.ts";
import { connectionTestMs } from "../../control-api/limits.ts";
import { markup, type Html } from "../../http/html.ts";
import { monogram } from "../../http/monogram.ts";
import { outward } from "../../http/page.ts";
import type { FormFields } from "../form.ts";
import { filterForm, address, form, type Field, type FormState } from "../look/forms.ts";
import { emptyState, tabs, section } from "../look/parts.ts";
import { table } from "../look/table.ts";
import { userText } from "../look/values.ts";
import { formState, hiddenFields } from "../page-forms.ts";
import type { Page, PageCall, PageContent, ActionResult } from "../page.ts";
import { workspacePath } from "../redirect.ts";
import { searchConnectors, requireConnector, testedWords } from "./connections-page.ts";

export const chooseVendorPage: Page = {
  of: "workspace",
  path: "/connections/new",
  navigation: null,
  roles: ["admin", "super_admin"],
  render: renderVendors,
};

const rowsShown = 50;

async function renderVendors(call: PageCall): Promise<PageContent> {
  const q = (call.query.get("q") ?? "").trim().slice(0, 200);
  const { rows, total, didYouMean } = searchConnectors(q, { call, most: rowsShown });
  return {
    title: "Connect a vendor",
    trail: [{ path: call.link("/connections"), label: "Connections" }],
    main: markup`${filterForm({ path: call.path, filters: [{ name: "q", label: "Vendor or product", kind: "text", value: q }] })}
      ${didYouMean === null ? null : markup`<p>Did you mean ${userText(didYouMean)}? Nothing is called “${userText(q)}”.</p>`}
      ${vendorTable(rows, { call, q })}
      ${total > rows.length ? markup`<p class="under">The first ${rows.length} of ${total}: search for the one that you mean.</p>` : null}`,
  };
}

function vendorTable(rows: readonly ConnectorRow[], { call, q }: { call: PageCall; q: string }): Html {
  const name = ({ slug, name: words }: ConnectorRow): Html =>
    markup`${monogram(words)} <a href="${call.link(`/connections/new/${slug}`)}">${userText(words)}</a>`;
  return table<ConnectorRow>({
    caption: "Vendors",
    columns: [
      { label: "Name", kind: "text", cell: name },
      { label: "Category", kind: "text", cell: ({ category }) => category },
      { label: "The form asks for", kind: "text", cell: ({ columns }) => columns.form_asks_for },
    ],
    rows,
    empty: emptyState(`The search finds no vendor for “${q}”.`, markup`<a class="button quiet" href="${call.path}">Show all</a>`),
  });
}

// The form of one vendor

export const newConnectionPage: Page = {
  of: "workspace",
  path: "/connections/new/:slug",
  navigation: null,
  roles: ["admin", "super_admin"],
  deadlineMs: connectionTestMs,
  render,
  actions: { connect },
};

const noCredentials = { fields: [] };

/** The alternative of the form that the address names, from 0. */
function setOf(row: ConnectorRow, number: number) {
  return row.credential_sets[number] ?? row.credential_sets[0] ?? noCredentials;
}

function numberIn(text: string | null): number {
  return text !== null && /^\d{1,2}$/.test(text) ? Number(text) : 0;
}

async function render(call: PageCall): Promise<PageContent> {
  const row = requireConnector(call.params["slug"] ?? "", call);
  const trail = [
    { path: call.link("/connections"), label: "Connections" },
    { path: call.link("/connections/new"), label: "Connect a vendor" },
  ];
  const docs = row.docs === null ? null : markup`<p>${outward(row.docs, markup`Documentation of ${row.name}`)}</p>`;
  const title = `Connect ${row.name}`;
  if (row.credential_sets.length === 0) {
    const lead = `Nothing is read from ${row.name}: the connection records that you use it, and asks for no credentials.`;
    return { title, trail, lead, main: connectForm(row, call) };
  }
  return {
    title,
    trail,
    main: markup`${setTabs(row, call)}
      ${section("grant", "1. Prepare it at the vendor", markup`${grantOfSet(row, chosenSet(call), call.parts.control.connectors)}${docs}`)}
      ${section("form", "2. Fill in the form", connectForm(row, call))}`,
  };
}

function chosenSet(call: PageCall): number {
  return numberIn(call.refused?.form.text("credential_set") ?? call.query.get("set"));
}

/** Above both steps, because both depend on it; null without a choice. */
function setTabs(row: ConnectorRow, call: PageCall): Html | null {
  const number = chosenSet(call);
  const here = call.link(`/connections/new/${row.slug}`);
  const choices = row.credential_sets.map((one, index) => ({
    path: address(here, { set: index === 0 ? undefined : String(index) }),
    label: labelsOf(one),
    count: null,
    current: index === number,
  }));
  return choices.length < 2 ? null : tabs("What you have", choices);
}

function connectForm(row: ConnectorRow, call: PageCall): Html {
  const number = chosenSet(call);
  const set = setOf(row, number);
  const generic =
    row.form === "generic"
      ? markup`<p class="hint">No source names what ${userText(row.name)} asks for, so this is the form for any vendor.</p>`
      : null;
  return markup`${generic}${form({
    id: "connect",
    action: call.link(`/connections/new/${row.slug}`),
    hidden: hiddenFields(call, "connect", { credential_set: String(number) }),
    fields: credentialFields(set),
    state: withoutSecrets(formState(call, { action: "connect" }), set),
    submit: row.credential_sets.length === 0 ? "Keep it on record" : "Save",
    cancelPath: call.link("/connections"),
  })}`;
}

/** Saves, and tests at once where there is a test. The connection stays where the test fails. */
async function connect(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const row = requireConnector(call.params["slug"] ?? "", call);
  const number = numberIn(typed.text("credential_set"));
  const form =
    row.credential_sets.length === 0 ? {} : { credential_set: number, credentials: credentialsIn(typed, setOf(row, number)) };
  const made = await call.control(connectionEndpoints.create, { connector: row.id, ...form });
  const path = `/connections/${made.id}`;
  if (!made.testable) return { goTo: call.link(path), said: `${row.name} is connected.` };
  const tested = await call.control(connectionEndpoints.test, { id: made.id });
  return { goTo: call.link(path), said: `${row.name} is connected. ${testedWords(tested)}`, warns: tested.outcome !== "works" };
}

// Where the public page of a connector leads to: the choice of a workspace

export const connectPage: Page = { of: "person", path: "/connect/:slug", navigation: null, roles: [], render: renderWorkspaces };

async function renderWorkspaces(call: PageCall): Promise<PageContent> {
  const { name, slug } = requireConnector(call.params["slug"] ?? "", call);
  const own = call.viewer.workspaces.filter(({ role }) => role === "admin" || role === "super_admin" || role === "operator");
  const links = own.map(
    (workspace) =>
      markup`<li><a href="${workspacePath(workspace.name)}/connections/new/${encodeURIComponent(slug)}">${userText(workspace.name)}</a></li>`,
  );
  const none = emptyState("Only admins connect vendors, and you are an admin in no workspace. Ask an admin of yours.", null);
  return {
    title: `Connect ${name}`,
    lead: own.length === 0 ? null : "Choose the workspace to connect.",
    main: own.length === 0 ? none : markup`<ul>${links}</ul>`,
  };
}

// A connector's form in the Console: the same fields, hints and rules as on its public page, and it is sent.

export function credentialFields({ fields }: CredentialSet): Field[] {
  return fields.map((field) => {
    const { key: name, label, optional, secret, kind } = field;
    const hint = hintsOf(field, "service").join(" ");
    const shared = { name, label, required: !optional, ...(hint !== "" && { hint }) };
    if (isLong(field)) return { ...shared, kind: "lines", rows: 6, code: true, charactersMax: credentialTextCharactersMax };
    const typed = secret ? "password" : kind === "url" || kind === "email" ? kind : "text";
    return { ...shared, kind: typed, charactersMax: credentialCharactersMax, ...(secret && { autocomplete: "off" }) };
  });
}

/** What was typed, without its secrets: no page holds one. */
export function withoutSecrets(state: FormState, { fields }: CredentialSet): FormState {
  const secret = new Set(fields.filter((field) => field.secret).map(({ key }) => key));
  return { ...state, values: Object.fromEntries(Object.entries(state.values).filter(([name]) => !secret.has(name))) };
}

export function credentialsIn(typed: FormFields, { fields }: CredentialSet): Record<string, string> {
  // Hidden fields of the form come first, so a credential that is called like one of them is the last.
  return Object.fromEntries(fields.map(({ key }) => [key, (typed.all(key).at(-1) ?? "").replaceAll("\r\n", "\n")]));
}

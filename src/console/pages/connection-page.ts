/**
 * A connection, from creation to deletion. A person searches for a vendor and fills in its form, which is saved, and tested at once if
 * there is a test. The connection's page then shows its last test, and can replace the credentials or delete it. The form is that of the
 * vendor's public page, whose link leads here to the choice of a workspace.
 *
 * Those who manage or audit the workspace see who has an account at the vendor, where Weir reads that.
 *
 * No page shows a credential or a typed secret again. New credentials replace all old ones, and a connection stays even if its test fails.
 */
import { askedFields, labelsOf } from "../../connectors/catalog/files/columns.ts";
import type { CredentialSet } from "../../connectors/catalog/files/schema.ts";
import { findConnector } from "../../connectors/catalog/find.ts";
import type { ConnectorRow } from "../../connectors/catalog/row.ts";
import type { ConnectionView } from "../../connectors/connections/schema.ts";
import { nameCharactersMax } from "../../accounts/limits.ts";
import { credentialCharactersMax, credentialTextCharactersMax } from "../../connectors/limits.ts";
import { generatedHint, hintsOf, isLong } from "../../connectors/pages/credential-form.ts";
import { grantOfSet } from "../../connectors/pages/set-up-page.ts";
import { connectionEndpoints } from "../../control-api/endpoints/connections.ts";
import { connectionTestMs, peopleReadMs } from "../../control-api/limits.ts";
import { markup, type Html } from "../../http/html.ts";
import { monogram } from "../../http/monogram.ts";
import { outward } from "../../http/page.ts";
import { filterForm, address, form, type Field, type FormState, actionButton, confirmForm } from "../look/forms.ts";
import { codeBlock, emptyState, tabs, section, table, userText, dialog, opener, time } from "../look/parts.ts";
import { idToCopy, thingPage, type ThingFacts } from "../look/thing.ts";
import { actDialog, formState, hiddenFields, signInFirst } from "../page-forms.ts";
import type { FormFields, Page, PageCall, PageContent, ActionResult } from "../page.ts";
import { workspacePath } from "../redirect.ts";
import { peopleActions, peopleSection } from "./people-section.ts";
import {
  searchConnectors,
  requireConnector,
  testedWords,
  mayManage,
  catalogOf,
  connectorName,
  connectionBadge,
  methodName,
} from "./connections-page.ts";
import { changesFact } from "./workspace/audit-page.ts";

const chooseVendorPage: Page = {
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
      { label: "Credentials", kind: "text", cell: ({ columns }) => columns.form_asks_for },
    ],
    rows,
    empty: emptyState(`No vendor matches “${q}”.`, markup`<a class="button quiet" href="${call.path}">Show all</a>`),
  });
}

// The form of one vendor

const newConnectionPage: Page = {
  of: "workspace",
  path: "/connections/new/:slug",
  navigation: null,
  roles: ["admin", "super_admin"],
  deadlineMs: connectionTestMs,
  render,
  actions: { connect },
};

const noCredentials = { fields: [] };
/** No field of a vendor's form has this key. */
const nameFieldName = "name-of-the-connection";

/** The set of credentials that the address chooses, counted from 0. */
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
    label: ownLabels(one, row.credential_sets),
    count: null,
    current: index === number,
  }));
  return choices.length < 2 ? null : tabs("What you have", choices);
}

/** What tells a set from the others: the fields that it needs and that some other lacks. */
function ownLabels(set: CredentialSet, all: readonly CredentialSet[]): string {
  const fields = askedFields(set);
  const isShared = (key: string): boolean => all.every((one) => askedFields(one).some((field) => field.key === key));
  const own = fields.filter(({ key, optional }) => !optional && !isShared(key));
  return labelsOf({ fields: own.length === 0 ? fields : own });
}

function connectForm(row: ConnectorRow, call: PageCall): Html {
  const number = chosenSet(call);
  const set = setOf(row, number);
  const generic =
    row.form === "generic"
      ? markup`<p class="hint">Weir does not know what ${userText(row.name)} asks for, so this is a general form.</p>`
      : null;
  return markup`${generic}${generatedHint(set)}${form({
    id: "connect",
    action: call.link(`/connections/new/${row.slug}`),
    hidden: hiddenFields(call, "connect", { credential_set: String(number) }),
    fields: [nameField, ...credentialFields(set)],
    state: withoutSecrets(formState(call, { action: "connect" }), set),
    submit: row.credential_sets.length === 0 ? "Keep it on record" : "Save",
    cancelPath: call.link("/connections"),
  })}`;
}

const nameField: Field = {
  kind: "text",
  name: nameFieldName,
  label: "Name",
  hint: "What you call it here, such as the account’s name. If empty: the vendor’s product.",
  charactersMax: nameCharactersMax,
};

/** Saves, and tests at once if there is a test. The connection stays even if the test fails. */
async function connect(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const row = requireConnector(call.params["slug"] ?? "", call);
  const number = numberIn(typed.text("credential_set"));
  const form =
    row.credential_sets.length === 0 ? {} : { credential_set: number, credentials: credentialsIn(typed, setOf(row, number)) };
  const name = typed.text(nameFieldName);
  const named = name === "" ? {} : { name };
  const made = await call.control(connectionEndpoints.create, { connector: row.id, ...named, ...form });
  const path = `/connections/${made.id}`;
  if (!made.testable) return { goTo: call.link(path), said: `${row.name} is connected.` };
  const tested = await call.control(connectionEndpoints.test, { id: made.id });
  return { goTo: call.link(path), said: `${row.name} is connected. ${testedWords(tested)}`, warns: tested.outcome !== "works" };
}

// Where the public page of a connector leads: the choice of a workspace

const connectPage: Page = { of: "person", path: "/connect/:slug", navigation: null, roles: [], render: renderWorkspaces };

async function renderWorkspaces(call: PageCall): Promise<PageContent> {
  const { name, slug } = requireConnector(call.params["slug"] ?? "", call);
  const own = call.viewer.workspaces.filter(({ role }) => role === "admin" || role === "super_admin" || role === "operator");
  const links = own.map(
    (workspace) =>
      markup`<li><a href="${workspacePath(workspace.name)}/connections/new/${encodeURIComponent(slug)}">${userText(workspace.name)}</a></li>`,
  );
  const none = emptyState(
    "Only admins connect vendors, and you are not an admin in any workspace. Ask one of your admins.",
    null,
  );
  return {
    title: `Connect ${name}`,
    lead: own.length === 0 ? null : "Choose the workspace to connect.",
    main: own.length === 0 ? none : markup`<ul>${links}</ul>`,
  };
}

// A connector's form in the Console, with the fields, hints and rules of its public page.

function credentialFields(set: CredentialSet): Field[] {
  return askedFields(set).map((field) => {
    const { key: name, label, optional, secret, kind } = field;
    const hint = hintsOf(field, "service").join(" ");
    const shared = { name, label, required: !optional, ...(hint !== "" && { hint }) };
    if (isLong(field)) return { ...shared, kind: "lines", rows: 6, code: true, charactersMax: credentialTextCharactersMax };
    const typed = secret ? "password" : kind === "url" || kind === "email" ? kind : "text";
    return { ...shared, kind: typed, charactersMax: credentialCharactersMax, ...(secret && { autocomplete: "off" }) };
  });
}

/** What was typed, without secrets: no page contains one. */
function withoutSecrets(state: FormState, { fields }: CredentialSet): FormState {
  const secret = new Set(fields.filter((field) => field.secret).map(({ key }) => key));
  return { ...state, values: Object.fromEntries(Object.entries(state.values).filter(([name]) => !secret.has(name))) };
}

function credentialsIn(typed: FormFields, set: CredentialSet): Record<string, string> {
  // Hidden fields of the form come first, so a credential with the same name as one of them is the last.
  return Object.fromEntries(askedFields(set).map(({ key }) => [key, (typed.all(key).at(-1) ?? "").replaceAll("\r\n", "\n")]));
}

// One connection.

const shared = { of: "workspace", navigation: null } as const;

const connectionPage: Page = {
  ...shared,
  path: "/connections/:id",
  roles: ["member", "auditor", "admin", "super_admin"],
  deadlineMs: peopleReadMs,
  render: renderConnection,
  actions: { rename, test, replace, ...peopleActions, delete: remove },
};

/** For browsers without script, where the dialog cannot open. */
const deleteConnectionPage: Page = {
  ...shared,
  path: "/connections/:id/delete",
  roles: ["admin", "super_admin"],
  render: renderDelete,
  actions: { delete: remove },
};

const pathOf = ({ params }: PageCall): string => `/connections/${encodeURIComponent(params["id"] ?? "")}`;

async function renderConnection(call: PageCall): Promise<PageContent> {
  const connection = await call.control(connectionEndpoints.show, { id: call.params["id"] ?? "" });
  const product = connectorName(connection.connector, call);
  const mayChange = mayManage(call);
  const { buttons, dialogs } = mayChange ? acts(connection, call) : { buttons: null, dialogs: null };
  const note = mayChange ? null : markup`<p class="hint">Only admins test, change and delete connections.</p>`;
  return {
    title: connection.name ?? product,
    trail: [{ path: call.link("/connections"), label: "Connections" }],
    badge: connectionBadge(connection),
    lead: connection.name === null ? null : product,
    actions: buttons,
    main: markup`${dialogs}
      ${thingPage({
        facts: [...connectionFacts(connection), ...changesFact(connection.id, call)],
        note,
        main: markup`${roleSection(connection)}${section("test", "Last test", lastTest(connection))}${await peopleSection(connection, call)}`,
      })}`,
  };
}

function acts(connection: ConnectionView, call: PageCall): { buttons: Html; dialogs: Html } {
  const { connector, method, testable } = connection;
  const title = `Delete the connection to ${connectorName(connector, call)}?`;
  const deleting = dialog({ id: "delete", title, body: deleteForm(connection, call), asks: null });
  const deletes = opener({ dialog: "delete", path: call.link(`${pathOf(call)}/delete`), label: "Delete", quiet: true });
  const tests =
    testable && method !== "record_only"
      ? actionButton({ action: call.link(pathOf(call)), label: "Test now", hidden: hiddenFields(call, "test") })
      : null;
  const renaming = actDialog(call, {
    action: "rename",
    label: "Rename",
    title: "Rename the connection",
    body: renameForm(connection, call),
  });
  if (method === "record_only")
    return { buttons: markup`${renaming.button}${deletes}`, dialogs: markup`${renaming.dialog}${deleting}` };
  const body = replaceForm(connection, call);
  const replacing = actDialog(call, {
    action: "replace",
    label: "Replace credentials",
    title: "Replace the credentials",
    body,
    guards: true,
  });
  return {
    buttons: markup`${tests}${renaming.button}${replacing.button}${deletes}`,
    dialogs: markup`${renaming.dialog}${replacing.dialog}${deleting}`,
  };
}

function connectionFacts(connection: ConnectionView): ThingFacts {
  const { fields } = connection;
  return [
    ["Connects by", connection.role_access ? "Role" : methodName(connection.method)],
    [
      "Stored",
      fields.length === 0
        ? "nothing"
        : markup`${fields.map((field, index) => markup`${index === 0 ? null : ", "}<code>${field}</code>`)}`,
    ],
    ["Connected", time(connection.created_at)],
    ["Credentials set", time(connection.updated_at)],
    ["Id", idToCopy({ id: "connection-id", value: connection.id, what: "the id" })],
  ];
}

/** What the role at AWS must trust; null: the connection has other credentials. */
function roleSection({ role_access: access }: ConnectionView): Html | null {
  if (access === null) return null;
  const { external_id: externalId, trust_policy: policy } = access;
  const parts =
    policy === null
      ? markup`<p>This service has no account at AWS, so roles cannot trust it yet: its operator sets <code>AWS_ACCOUNT_ID</code>.</p>`
      : markup`<p>In IAM open the role, then <b>Trust relationships</b>, and set this policy. It lets in this service with this connection’s external id alone. Give the role the rights that the form named; then test the connection here.</p>${codeBlock({ id: "trust-policy", code: policy, label: "trust policy" })}`;
  return section(
    "role",
    "Role at AWS",
    markup`${parts}<p>External id: ${idToCopy({ id: "external-id", value: externalId, what: "the external id" })}</p>`,
  );
}

function lastTest({ last_test: test, testable, method, role_access: role }: ConnectionView): Html {
  if (method === "record_only")
    return markup`<p>It is only on record: nothing is read from the vendor, so there is nothing to test.</p>`;
  if (!testable && role !== null)
    return markup`<p>This service has no credentials of its own at AWS, so the role cannot be tested here.</p>`;
  if (!testable) return markup`<p>Weir has no test for this vendor. The credentials are stored as they were typed.</p>`;
  if (test === null)
    return markup`<p>These credentials have not been tested yet. A test calls the vendor in a way that changes nothing there.</p>`;
  return markup`<p>Tested ${time(test.tested_at, { seconds: true })}: ${test.message}${test.status === null ? "" : ` (status ${test.status})`}.</p>`;
}

function renameForm({ name, connector }: ConnectionView, call: PageCall): Html {
  return form({
    id: "rename",
    action: call.link(pathOf(call)),
    hidden: hiddenFields(call, "rename"),
    fields: [{ kind: "text", name: "name", label: "Name", charactersMax: nameCharactersMax, required: true }],
    state: formState(call, { action: "rename", values: { name: name ?? connectorName(connector, call) } }),
    submit: "Rename",
    cancelPath: call.link(pathOf(call)),
  });
}

async function rename(call: PageCall, typed: FormFields): Promise<ActionResult> {
  await call.control(connectionEndpoints.rename, { id: call.params["id"] ?? "", name: typed.text("name") });
  return { goTo: call.link(pathOf(call)), said: "The connection is renamed." };
}

function replaceForm(connection: ConnectionView, call: PageCall): Html {
  const row = findConnector(connection.connector, catalogOf(call));
  const set = row?.credential_sets[connection.credential_set];
  if (set === undefined) return markup`<p>The catalog no longer has this form: the connection can only be deleted.</p>`;
  const state = formState(call, { action: "replace" });
  const first = signInFirst(call, "replace the credentials");
  if (first !== null) return first;
  return markup`<p class="hint">The new credentials replace all old ones.</p>${form({
    id: "replace",
    action: call.link(pathOf(call)),
    hidden: hiddenFields(call, "replace"),
    fields: credentialFields(set),
    state: withoutSecrets(state, set),
    submit: "Replace",
    cancelPath: call.link(pathOf(call)),
  })}`;
}

async function replace(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const { connector, credential_set: number } = await call.control(connectionEndpoints.show, { id: call.params["id"] ?? "" });
  const set = requireConnector(connector, call).credential_sets[number] ?? { fields: [] };
  await call.control(connectionEndpoints.replaceCredentials, {
    id: call.params["id"] ?? "",
    credentials: credentialsIn(typed, set),
  });
  return { goTo: call.link(pathOf(call)), said: "The credentials are replaced. Test them next." };
}

async function test(call: PageCall): Promise<ActionResult> {
  const made = await call.control(connectionEndpoints.test, { id: call.params["id"] ?? "" });
  return { goTo: call.link(pathOf(call)), said: testedWords(made), warns: made.outcome !== "works" };
}

function deleteForm({ connector }: ConnectionView, call: PageCall): Html {
  const name = connectorName(connector, call);
  const first = signInFirst(call, "delete the connection");
  if (first !== null) return first;
  return confirmForm({
    id: "delete",
    warning: markup`The connection to ${userText(name)} is deleted with its credentials. This cannot be undone.`,
    action: call.link(pathOf(call)),
    hidden: hiddenFields(call, "delete"),
    submit: "Delete",
    cancelPath: call.link(pathOf(call)),
  });
}

async function renderDelete(call: PageCall): Promise<PageContent> {
  const connection = await call.control(connectionEndpoints.show, { id: call.params["id"] ?? "" });
  const name = connectorName(connection.connector, call);
  return {
    title: `Delete the connection to ${name}?`,
    trail: [
      { path: call.link("/connections"), label: "Connections" },
      { path: call.link(pathOf(call)), label: name },
    ],
    main: deleteForm(connection, call),
  };
}

async function remove(call: PageCall): Promise<ActionResult> {
  const { connector } = await call.control(connectionEndpoints.show, { id: call.params["id"] ?? "" });
  await call.control(connectionEndpoints.delete, { id: call.params["id"] ?? "" });
  return { goTo: call.link("/connections"), said: `The connection to ${connectorName(connector, call)} is deleted.` };
}

/** In the order in which addresses are matched. */
export const connectionPages = [chooseVendorPage, connectionPage, deleteConnectionPage, newConnectionPage, connectPage];

/**
 * One connection: its last test, new credentials for it, and its end. No page shows a credential again: new ones replace all old ones, and
 * a connection stays where its test fails.
 */
import { findConnector } from "../../connectors/catalog/find.ts";
import type { ConnectionView } from "../../connectors/connections/schema.ts";
import { connectionEndpoints } from "../../control-api/endpoints/connections.ts";
import { connectionTestMs } from "../../control-api/limits.ts";
import { markup, type Html } from "../../http/html.ts";
import type { FormFields } from "../form.ts";
import { actionButton, confirmForm, form } from "../look/forms.ts";
import { dialog, opener, facts, section } from "../look/parts.ts";
import { time, userText } from "../look/values.ts";
import { formState, hiddenFields, signInFirst } from "../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../page.ts";
import {
  mayManage,
  catalogOf,
  connectorName,
  requireConnector,
  connectionBadge,
  methodName,
  testedWords,
} from "./connections-page.ts";
import { credentialFields, credentialsIn, withoutSecrets } from "./new-connection.ts";

const shared = { of: "workspace", navigation: null } as const;

export const connectionPage: Page = {
  ...shared,
  path: "/connections/:id",
  roles: ["member", "auditor", "admin", "super_admin"],
  deadlineMs: connectionTestMs,
  render,
  actions: { test, replace, delete: remove },
};

/** For browsers without script, where the dialog cannot open. */
export const deleteConnectionPage: Page = {
  ...shared,
  path: "/connections/:id/delete",
  roles: ["admin", "super_admin"],
  render: renderDelete,
  actions: { delete: remove },
};

const pathOf = ({ params }: PageCall): string => `/connections/${encodeURIComponent(params["id"] ?? "")}`;

async function render(call: PageCall): Promise<PageContent> {
  const connection = await call.control(connectionEndpoints.show, { id: call.params["id"] ?? "" });
  const name = connectorName(connection.connector, call);
  const mayChange = mayManage(call);
  const deleting = { id: "delete", title: `Delete the connection to ${name}?`, body: deleteForm(connection, call), asks: null };
  return {
    title: name,
    trail: [{ path: call.link("/connections"), label: "Connections" }],
    badge: connectionBadge(connection),
    actions: mayChange
      ? opener({ dialog: "delete", path: call.link(`${pathOf(call)}/delete`), label: "Delete", quiet: true })
      : null,
    main: markup`${connectionFacts(connection)}
      ${section("test", "Test", lastTest(connection, { call, mayChange }))}
      ${mayChange && connection.method !== "record_only" ? section("replace", "New credentials", replaceForm(connection, call)) : null}
      ${mayChange ? dialog(deleting) : markup`<p class="hint">Only admins test, change and delete connections.</p>`}`,
  };
}

function connectionFacts(connection: ConnectionView): Html {
  const { fields } = connection;
  return facts([
    ["Connects by", methodName(connection.method)],
    [
      "Stored",
      fields.length === 0
        ? "nothing"
        : markup`${fields.map((field, index) => markup`${index === 0 ? null : ", "}<code>${field}</code>`)}`,
    ],
    ["Connected", time(connection.created_at)],
    ["Credentials set", time(connection.updated_at)],
    ["Id", markup`<code>${connection.id}</code>`],
  ]);
}

function lastTest(connection: ConnectionView, { call, mayChange }: { call: PageCall; mayChange: boolean }): Html {
  const { last_test: test, testable, method } = connection;
  if (method === "record_only")
    return markup`<p>It is on record alone: nothing is read from the vendor, so there is nothing to test.</p>`;
  if (!testable) return markup`<p>There is no test for this connection. Its credentials are stored as they were typed.</p>`;
  const button = mayChange
    ? actionButton({ action: call.link(pathOf(call)), label: "Test now", hidden: hiddenFields(call, "test") })
    : null;
  const words =
    test === null
      ? markup`<p>These credentials were not tested yet. A test calls the vendor in a way that changes nothing there.</p>`
      : markup`<p>Tested ${time(test.tested_at, { seconds: true })}: ${test.message}${test.status === null ? "" : ` (status ${test.status})`}.</p>`;
  return markup`${words}${button}`;
}

function replaceForm(connection: ConnectionView, call: PageCall): Html {
  const row = findConnector(connection.connector, catalogOf(call));
  const set = row?.credential_sets[connection.credential_set];
  if (set === undefined) return markup`<p>The catalog no longer has this form: the connection can only be deleted.</p>`;
  const state = formState(call, { action: "replace" });
  const first = signInFirst(call, "replace the credentials");
  if (first !== null) return first;
  return markup`<p class="hint">Nothing of the old credentials stays.</p>${form({
    id: "replace",
    action: call.link(pathOf(call)),
    hidden: hiddenFields(call, "replace"),
    fields: credentialFields(set),
    state: withoutSecrets(state, set),
    submit: "Replace",
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

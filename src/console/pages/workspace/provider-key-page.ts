/**
 * One own provider key: its state, and how to test, replace, disable or delete it. The key is shown masked alone. Once it is disabled or
 * deleted, its provider is called with the service's key, and charged.
 */
import { DomainError } from "../../../accounts/errors.ts";
import { providerKeyEndpoints } from "../../../control-api/endpoints/provider-keys.ts";
import type { OwnKeyTest, OwnKeyView } from "../../../gateway/own-keys/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import { providerFormMs } from "../../limits.ts";
import { actionButton, form, confirmForm } from "../../look/forms.ts";
import { dialog, opener, facts, section, badge, emptyState } from "../../look/parts.ts";
import { table } from "../../look/table.ts";
import { time, userText } from "../../look/values.ts";
import { formState, hiddenFields, signInFirst } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { keyState, secretFields, reasonAgainstKeys } from "./provider-keys-page.ts";

export const providerKeyPage: Page = {
  of: "workspace",
  path: "/provider-keys/:id",
  navigation: null,
  roles: ["admin", "super_admin"],
  deadlineMs: providerFormMs,
  render,
  actions: { test, replace, disable, delete: deleteKey },
};

const keyTrail = (call: PageCall) => [{ path: call.link("/provider-keys"), label: "Provider keys" }];

/** @throws DomainError not_found */
async function findKey(call: PageCall): Promise<OwnKeyView> {
  const { data } = await call.control(providerKeyEndpoints.list);
  const key = data.find(({ id }) => id === call.params["id"]);
  if (key) return key;
  throw new DomainError("not_found", "There is no such provider key in this workspace");
}

const pathOf = ({ id }: Pick<OwnKeyView, "id">): string => `/provider-keys/${encodeURIComponent(id)}`;

async function render(call: PageCall): Promise<PageContent> {
  const key = await findKey(call);
  const reason = await reasonAgainstKeys(call);
  return {
    title: key.name ?? key.provider,
    trail: keyTrail(call),
    badge: keyState(key.state),
    main: markup`${keyFacts(key)}
      ${reason === null ? markup`${testSection(key, call)}${replaceSection(key, call)}` : markup`<p class="hint">${reason}</p>`}
      ${endSection(key, call)}`,
  };
}

function keyFacts(key: OwnKeyView): Html {
  return facts([
    ["Provider", key.provider],
    ["Key", markup`<code>${key.masked ?? "…"}</code>`],
    ["Zero data retention", key.zero_data_retention ? "stated by the workspace" : "not stated"],
    ["Added", time(key.created_at)],
    ["Tested", time(key.tested_at)],
    ["Last used", time(key.last_used_at)],
  ]);
}

function testSection({ provider }: OwnKeyView, call: PageCall): Html {
  const words = markup`Calls ${userText(provider)} for each chat model that has not been checked yet, or else for its cheapest one. The provider bills at most 16 tokens for each. It takes up to a minute or two.`;
  const button = actionButton({ action: call.path, label: "Test it", hidden: hiddenFields(call, "test") });
  return section("test", "Test", markup`<p class="hint">${words}</p>${button}`);
}

function replaceSection({ zero_data_retention: none, state }: OwnKeyView, call: PageCall): Html {
  const words = state === "disabled" ? "With a new key it is in use again." : "Calls under way end on the current key.";
  const body = form({
    id: "replace",
    action: call.path,
    hidden: hiddenFields(call, "replace"),
    fields: secretFields,
    state: formState(call, { action: "replace", values: { zero_data_retention: none ? "true" : "" } }),
    submit: "Test and replace",
  });
  return section("replace", "Replace", markup`<p class="hint">${words}</p>${signInFirst(call, "replace the key") ?? body}`);
}

function endSection(key: OwnKeyView, call: PageCall): Html {
  const first = signInFirst(call, "disable or delete the key");
  const disabling = actionButton({
    action: call.path,
    label: "Disable",
    what: "this key",
    hidden: hiddenFields(call, "disable"),
  });
  const deleting = opener({ dialog: "delete", path: call.link(`${pathOf(key)}/delete`), label: "Delete", quiet: true });
  const words = markup`Within 30 seconds ${userText(key.provider)} is then called with the service's key, if there is one, and charged to the workspace's credit.`;
  const buttons = markup`<div class="form-end">${key.state === "disabled" ? null : disabling}${deleting}</div>`;
  const asked = dialog({ id: "delete", title: "Delete the provider key?", body: deleteKeyForm(key, call), asks: null });
  return section("end", "Stop using it", markup`<p class="hint">${words}</p>${first ?? markup`${buttons}${asked}`}`);
}

async function test(call: PageCall): Promise<ActionResult> {
  const key = await findKey(call);
  const result = await call.control(providerKeyEndpoints.test, { id: key.id });
  return { show: testResult(key, result, call) };
}

async function replace(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const key = await findKey(call);
  const sent = { key: typed.text("key"), zero_data_retention: typed.text("zero_data_retention") === "true" };
  await call.control(providerKeyEndpoints.replace, { id: key.id, ...sent });
  return { goTo: call.path, said: "The key is replaced." };
}

async function disable(call: PageCall): Promise<ActionResult> {
  const key = await findKey(call);
  await call.control(providerKeyEndpoints.disable, { id: key.id });
  return { goTo: call.path, said: "The key is disabled. It stays stored, and a new key puts it in use again." };
}

type Tested = OwnKeyTest["tests"][number];

/** What the provider answered for each model. */
function testResult({ id, name, provider }: OwnKeyView, { tests, state }: OwnKeyTest, call: PageCall): PageContent {
  const answered = tests.filter(({ code }) => code === null).length;
  const results = table<Tested>({
    caption: "Tested models",
    columns: [
      { label: "Model", kind: "text", cell: ({ model }) => markup`<code>${model}</code>` },
      { label: "Result", kind: "badge", cell: ({ code }) => (code === null ? badge("good", "answered") : badge("bad", code)) },
    ],
    rows: tests,
    empty: emptyState("The catalog has no chat model of this provider to test.", null),
  });
  return {
    title: `Test of ${name ?? provider}`,
    trail: [{ path: call.link("/provider-keys"), label: "Provider keys" }],
    badge: keyState(state),
    lead: `${answered} of ${tests.length} calls were answered.`,
    main: markup`${results}<p><a class="button quiet" href="${call.link(`/provider-keys/${encodeURIComponent(id)}`)}">See the key</a></p>`,
  };
}

/** For browsers without script, where the dialog cannot open. */
export const deleteProviderKeyPage: Page = {
  of: "workspace",
  path: "/provider-keys/:id/delete",
  navigation: null,
  roles: ["admin", "super_admin"],
  render: renderDelete,
  actions: { delete: deleteKey },
};

async function renderDelete(call: PageCall): Promise<PageContent> {
  const key = await findKey(call);
  return { title: "Delete the provider key?", trail: keyTrail(call), main: deleteKeyForm(key, call) };
}

// Deleting an own provider key: the question, as a dialog or a page of its own.

function deleteKeyForm({ id, name, masked, provider }: OwnKeyView, call: PageCall): Html {
  const first = signInFirst(call, "delete the key");
  if (first !== null) return first;
  const path = call.link(`/provider-keys/${encodeURIComponent(id)}`);
  return confirmForm({
    id: "delete",
    warning: markup`The key ${userText(name ?? provider)} (<code>${masked ?? "…"}</code>) is deleted, which cannot be undone. From then on ${userText(provider)} is called with the service's key, on the workspace's credit.`,
    action: path,
    hidden: hiddenFields(call, "delete"),
    submit: "Delete",
    cancelPath: path,
  });
}

async function deleteKey(call: PageCall): Promise<ActionResult> {
  await call.control(providerKeyEndpoints.delete, { id: call.params["id"] ?? "" });
  return { goTo: call.link("/provider-keys"), said: "The provider key is deleted." };
}

/**
 * The workspace's own provider keys, the form that stores one after a test call, and one key: its state, its provider's requests, and how to
 * test, replace, disable or delete it. No page shows a key again, except masked. Members see that keys exist; admins manage them. Once a key is disabled or
 * deleted, its provider is called with the service's key, and charged.
 */
import { managers } from "../../../accounts/audit/actor.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { nameCharactersMax } from "../../../accounts/limits.ts";
import { providerEndpoints } from "../../../control-api/endpoints/providers.ts";
import { providerKeyEndpoints } from "../../../control-api/endpoints/provider-keys.ts";
import { workspaceEndpoints } from "../../../control-api/endpoints/workspaces.ts";
import type { ProviderView } from "../../../gateway/service-keys/schema.ts";
import type { OwnKeyView, OwnKeyTest } from "../../../gateway/own-keys/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { monogram } from "../../../http/monogram.ts";
import { providerFormMs } from "../../limits.ts";
import { chartScript } from "../../look/charts.ts";
import { arrangedList, type ListColumn } from "../../look/list-view.ts";
import { type Field, address, form, confirmForm } from "../../look/forms.ts";
import { dialog, opener, emptyState, badge, type Tone, table, time, userText } from "../../look/parts.ts";
import { thingPage, type ThingFacts } from "../../look/thing.ts";
import { actDialog, formState, hiddenFields, signInFirst } from "../../page-forms.ts";
import type { FormFields, Page, PageCall, PageContent, ActionResult } from "../../page.ts";
import { zoneScript } from "../inference/day-zone.ts";
import { lastRequests } from "../inference/request-columns.ts";
import { readUsageChart, usageAsked, usageChart } from "../inference/usage-chart.ts";
import { addingPath, providersPath } from "../operator/providers-page.ts";
import { changesFact } from "./audit-page.ts";

const providerKeysPage: Page = {
  of: "workspace",
  path: "/provider-keys",
  list: "provider-keys",
  navigation: { section: "Workspace", label: "Provider keys", icon: "provider" },
  reference: "control-inference",
  roles: ["member", "auditor", "admin", "super_admin"],
  deadlineMs: providerFormMs,
  render,
  actions: { create: createProviderKey },
};

async function render(call: PageCall): Promise<PageContent> {
  const reason = await reasonAgainstKeys(call);
  const { data: keys } = await call.control(providerKeyEndpoints.list);
  const create =
    reason === null
      ? opener({ dialog: "new-provider-key", path: call.link("/provider-keys/new"), label: "Add a provider key" })
      : null;
  const { table, view } = keyList(keys, call, create);
  return {
    title: "Provider keys",
    lead: "With its own key for a provider, the workspace is billed by that provider, and its credit is not charged for these calls.",
    actions: markup`${view}${create}`,
    main: markup`${reason === null ? null : markup`<p class="hint">${reason}</p>`}${table}
      ${reason === null ? await createDialog(call) : null}`,
  };
}

async function createDialog(call: PageCall): Promise<Html> {
  const body = await newProviderKeyForm(call, call.link("/provider-keys"));
  return dialog({
    id: "new-provider-key",
    title: "Add a provider key",
    body,
    asks: "changes",
    opensAtOnce: call.refused?.action === "create",
  });
}

function keyList(rows: readonly OwnKeyView[], call: PageCall, create: Html | null) {
  // Only managers get the names.
  const manages = rows.some(({ name }) => name !== null);
  const provider = ({ id, provider: of }: OwnKeyView): Html =>
    manages ? markup`${monogram(of)} <a href="${call.link(`/provider-keys/${id}`)}">${of}</a>` : markup`${monogram(of)} ${of}`;
  const columns: ListColumn<OwnKeyView>[] = [
    { name: "provider", label: "Provider", kind: "text", cell: provider, by: (key) => key.provider },
    { name: "state", label: "State", kind: "badge", cell: ({ state }) => keyState(state), by: ({ state }) => state },
    {
      name: "retention",
      label: "Zero data retention",
      kind: "text",
      cell: ({ zero_data_retention: none }) => (none ? "stated" : "not stated"),
      by: ({ zero_data_retention: none }) => Number(!none),
    },
    ...(manages ? managedColumns : []),
    {
      name: "since",
      label: "Since",
      kind: "time",
      cell: ({ created_at: at }) => time(at),
      by: (key) => key.created_at,
      isExtra: manages,
    },
  ];
  const empty = emptyState("All providers are called with the service's keys, on the workspace's credit.", create);
  const order = "in order of creation";
  return arrangedList<OwnKeyView>({ caption: "Own provider keys", columns, rows, empty, isWhole: true, order }, call);
}

const managedColumns: readonly ListColumn<OwnKeyView>[] = [
  { name: "name", label: "Name", kind: "text", cell: ({ name }) => name && userText(name), by: ({ name }) => name },
  {
    name: "key",
    label: "Key",
    kind: "text",
    cell: ({ masked }) => (masked === null ? null : markup`<code>${masked}</code>`),
  },
  { name: "tested", label: "Tested", kind: "time", cell: ({ tested_at: at }) => time(at), by: ({ tested_at: at }) => at },
  {
    name: "used",
    label: "Last used",
    kind: "time",
    cell: ({ last_used_at: at }) => time(at),
    by: ({ last_used_at: at }) => at,
  },
];

// Storing an own provider key: the form, as a dialog or a separate page.

const newProviderKeyPage: Page = {
  of: "workspace",
  path: "/provider-keys/new",
  navigation: null,
  roles: ["admin", "super_admin"],
  deadlineMs: providerFormMs,
  render: renderNew,
  actions: { create: createProviderKey },
};

/** @returns why the viewer may not store and change provider keys; null: they may */
async function reasonAgainstKeys(call: PageCall): Promise<string | null> {
  const { role, id } = call.workspace;
  if (role !== "operator" && !managers.includes(role)) return `Provider keys are managed by admins. Your role is ${role}.`;
  const { early_access: features } = await call.control(workspaceEndpoints.show, { id });
  if (features.includes("own_keys")) return null;
  return "Own provider keys are in early access, and off for this workspace: the operator switches them on in its settings.";
}

const tones: Record<OwnKeyView["state"], Tone> = { active: "good", refused: "bad", disabled: "neutral" };

function keyState(state: OwnKeyView["state"]): Html {
  return badge(tones[state], state);
}

async function renderNew(call: PageCall): Promise<PageContent> {
  const reason = await reasonAgainstKeys(call);
  const action = address(call.link("/provider-keys/new"), { provider: call.query.get("provider") ?? undefined });
  const main = reason === null ? await newProviderKeyForm(call, action) : markup`<p>${reason}</p>`;
  return { title: "Add a provider key", trail: [{ path: call.link("/provider-keys"), label: "Provider keys" }], main };
}

/** The key itself, which no page shows again, and a statement about its account. */
const secretFields: readonly Field[] = [
  {
    kind: "password",
    name: "key",
    label: "Key",
    hint: "It is tested by a call of at most 16 tokens, which the provider bills, and stored sealed. No page shows it again.",
    required: true,
    autocomplete: "off",
  },
  {
    kind: "check",
    name: "zero_data_retention",
    label: "The provider keeps nothing under this key's account",
    hint: "Only by your own contract with the provider. Where the workspace requires zero data retention, the key serves only with this.",
  },
];

async function newProviderKeyForm(call: PageCall, action: string): Promise<Html> {
  const first = signInFirst(call, "add a provider key");
  if (first !== null) return first;
  const { data } = await call.control(providerEndpoints.list);
  const wanted = call.query.get("provider") ?? "";
  const providers = data.filter((one) => one.own_keys).toSorted((a, b) => a.name.localeCompare(b.name, "en"));
  const isPossible = wanted === "" ? providers.length > 0 : providers.some(({ id }) => id === wanted);
  if (!isPossible) return keyLater(data, wanted, call);
  // None is preselected unless the address names it: a key must not reach the wrong provider by mistake.
  const choices = [{ value: "", label: "Choose one" }, ...providers.map(({ id, name }) => ({ value: id, label: name }))];
  return form({
    id: "new-provider-key",
    action,
    hidden: hiddenFields(call, "create"),
    fields: [
      { kind: "choice", name: "provider", label: "Provider", choices, required: true },
      { kind: "text", name: "name", label: "Name", hint: "If empty: the provider's name.", charactersMax: nameCharactersMax },
      ...secretFields,
    ],
    state: formState(call, { action: "create", values: { provider: wanted } }),
    submit: "Test and add",
    cancelPath: call.link("/provider-keys"),
  });
}

/** Requests are passed on to a provider only once the operator has read its terms. */
function keyLater(all: readonly ProviderView[], wanted: string, call: PageCall): Html {
  const provider = all.find(({ id }) => id === wanted);
  const name = provider?.name ?? "a provider";
  if (!call.viewer.operates) {
    return emptyState(
      `A key can be stored once the operator has read the terms of ${name}, and listed it as a subprocessor.`,
      null,
    );
  }
  const path = provider === undefined ? providersPath : addingPath(provider.id, { own: true });
  const link = markup`<a class="button" href="${path}">Read the terms of ${name}</a>`;
  return emptyState(`Workspaces can store keys once you have read the terms of ${name}, and listed it as a subprocessor.`, link);
}

async function createProviderKey(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const { provider } = await call.control(providerKeyEndpoints.create, {
    provider: typed.text("provider"),
    name: typed.text("name"),
    key: typed.text("key"),
    zero_data_retention: typed.text("zero_data_retention") === "true",
  });
  return { goTo: call.link("/provider-keys"), said: `The key is stored. Calls of ${provider} run on it within 30 seconds.` };
}

// One key.

const providerKeyPage: Page = {
  of: "workspace",
  path: "/provider-keys/:id",
  navigation: null,
  roles: ["admin", "super_admin"],
  deadlineMs: providerFormMs,
  scripts: [zoneScript, chartScript],
  render: renderKey,
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

async function renderKey(call: PageCall): Promise<PageContent> {
  const key = await findKey(call);
  const reason = await reasonAgainstKeys(call);
  const acts = [...(reason === null ? [testDialog(key, call), replaceDialog(key, call)] : []), ...endDialogs(key, call)];
  return {
    title: key.name ?? key.provider,
    trail: keyTrail(call),
    badge: keyState(key.state),
    actions: markup`${acts.map(({ button }) => button)}`,
    main: markup`${acts.map((act) => act.dialog)}${thingPage({
      facts: [...keyFacts(key), ...changesFact(key.id, call)],
      note: reason === null ? null : markup`<p class="hint">${reason}</p>`,
      main: await keyActivity(key, call),
    })}`,
  };
}

/** Of its provider, so that the requests before it was added or while it was off are there too. */
async function keyActivity({ provider }: OwnKeyView, call: PageCall): Promise<Html> {
  const only = { provider };
  const asked = usageAsked(call, { usual: "30d", groups: ["model", "key", "member"], only });
  const [view, requests] = await Promise.all([readUsageChart(call, asked), lastRequests(call, { only, of: "provider" })]);
  return markup`${usageChart(call, { asked, view })}${requests}`;
}

function keyFacts(key: OwnKeyView): ThingFacts {
  return [
    ["Provider", key.provider],
    ["Key", markup`<code>${key.masked ?? "…"}</code>`],
    ["Zero data retention", key.zero_data_retention ? "stated by the workspace" : "not stated"],
    ["Added", time(key.created_at)],
    ["Tested", time(key.tested_at)],
    ["Last used", time(key.last_used_at)],
  ];
}

interface Act {
  button: Html;
  dialog: Html;
}

function testDialog({ provider }: OwnKeyView, call: PageCall): Act {
  const words = markup`Calls ${userText(provider)} for each chat model that has not been checked yet, or else for its cheapest one. The provider bills at most 16 tokens for each. It takes up to a minute or two.`;
  const body = form({
    id: "test",
    action: call.path,
    hidden: hiddenFields(call, "test"),
    fields: [],
    state: formState(call, { action: "test" }),
    submit: "Test it",
    cancelPath: call.path,
  });
  return actDialog(call, { action: "test", label: "Test", title: "Test the key", body: markup`<p>${words}</p>${body}` });
}

function replaceDialog({ zero_data_retention: none, state }: OwnKeyView, call: PageCall): Act {
  const words = state === "disabled" ? "With a new key it is in use again." : "Calls under way end on the current key.";
  const body = form({
    id: "replace",
    action: call.path,
    hidden: hiddenFields(call, "replace"),
    fields: secretFields,
    state: formState(call, { action: "replace", values: { zero_data_retention: none ? "true" : "" } }),
    submit: "Test and replace",
    cancelPath: call.path,
  });
  return actDialog(call, {
    action: "replace",
    label: "Replace",
    title: "Replace the key",
    body: markup`<p class="hint">${words}</p>${signInFirst(call, "replace the key") ?? body}`,
    guards: true,
  });
}

/** A key that is disabled can be deleted only. */
function endDialogs(key: OwnKeyView, call: PageCall): Act[] {
  const deleting = {
    button: opener({ dialog: "delete", path: call.link(`${pathOf(key)}/delete`), label: "Delete", quiet: true }),
    dialog: dialog({ id: "delete", title: "Delete the provider key?", body: deleteKeyForm(key, call), asks: null }),
  };
  return key.state === "disabled" ? [deleting] : [disableDialog(key, call), deleting];
}

function disableDialog({ provider }: OwnKeyView, call: PageCall): Act {
  const words = markup`Within 30 seconds ${userText(provider)} is called with the service's key, if there is one, and charged to the workspace's credit. The key stays stored.`;
  const body = confirmForm({
    id: "disable",
    warning: words,
    action: call.path,
    hidden: hiddenFields(call, "disable"),
    submit: "Disable",
    cancelPath: call.path,
  });
  return actDialog(call, {
    action: "disable",
    label: "Disable",
    title: "Disable the key?",
    body: signInFirst(call, "disable the key") ?? body,
  });
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
const deleteProviderKeyPage: Page = {
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

// Deleting an own provider key: the confirmation, as a dialog or a separate page.

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

/** In the order in which addresses are matched. */
export const providerKeyPages = [providerKeysPage, newProviderKeyPage, providerKeyPage, deleteProviderKeyPage];

/**
 * The workspace's own keys for providers, and the form that stores one after a test call. No page shows a key again. Members see that
 * there is one; admins manage them.
 */
import { nameCharactersMax } from "../../../accounts/limits.ts";
import { managers } from "../../../accounts/workspaces/authorize.ts";
import { providerKeyEndpoints } from "../../../control-api/endpoints/provider-keys.ts";
import { workspaceEndpoints } from "../../../control-api/endpoints/workspaces.ts";
import type { OwnKeyView } from "../../../gateway/own-keys/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { monogram } from "../../../http/monogram.ts";
import type { FormFields } from "../../form.ts";
import { providerFormMs } from "../../limits.ts";
import { type Field, form } from "../../look/forms.ts";
import { dialog, opener, emptyState, badge, type Tone } from "../../look/parts.ts";
import { table, type Column } from "../../look/table.ts";
import { time, userText } from "../../look/values.ts";
import { formState, hiddenFields, signInFirst } from "../../page-forms.ts";
import type { Page, PageCall, PageContent, ActionResult } from "../../page.ts";

export const providerKeysPage: Page = {
  of: "workspace",
  path: "/provider-keys",
  navigation: { section: "Workspace", label: "Provider keys", icon: "provider" },
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
  return {
    title: "Provider keys",
    lead: "With a key of its own for a provider, the workspace is billed by that provider, and its credit is not charged for these calls.",
    actions: create,
    main: markup`${reason === null ? null : markup`<p class="hint">${reason}</p>`}${keyTable(keys, call, create)}
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

function keyTable(rows: readonly OwnKeyView[], call: PageCall, create: Html | null): Html {
  // Only managers get the names.
  const manages = rows.some(({ name }) => name !== null);
  const provider = ({ id, provider: of }: OwnKeyView): Html =>
    manages ? markup`${monogram(of)} <a href="${call.link(`/provider-keys/${id}`)}">${of}</a>` : markup`${monogram(of)} ${of}`;
  const further: Column<OwnKeyView>[] = [
    { label: "Name", kind: "text", cell: ({ name }) => name && userText(name) },
    { label: "Key", kind: "text", cell: ({ masked }) => (masked === null ? null : markup`<code>${masked}</code>`) },
    { label: "Tested", kind: "time", cell: ({ tested_at: at }) => time(at) },
    { label: "Last used", kind: "time", cell: ({ last_used_at: at }) => time(at) },
  ];
  return table<OwnKeyView>({
    caption: "Own provider keys",
    columns: [
      { label: "Provider", kind: "text", cell: provider },
      { label: "State", kind: "badge", cell: ({ state }) => keyState(state) },
      { label: "Zero data retention", kind: "text", cell: ({ zero_data_retention: none }) => (none ? "stated" : "not stated") },
      ...(manages ? further : [{ label: "Since", kind: "time", cell: ({ created_at: at }: OwnKeyView) => time(at) } as const]),
    ],
    rows,
    empty: emptyState("All providers are called with the service's keys, on the workspace's credit.", create),
  });
}

// Storing an own provider key: the form, as a dialog or a page of its own.

export const newProviderKeyPage: Page = {
  of: "workspace",
  path: "/provider-keys/new",
  navigation: null,
  roles: ["admin", "super_admin"],
  deadlineMs: providerFormMs,
  render: renderNew,
  actions: { create: createProviderKey },
};

/** @returns null: the viewer may store and change provider keys; otherwise why not */
export async function reasonAgainstKeys(call: PageCall): Promise<string | null> {
  const { role, id } = call.workspace;
  if (role !== "operator" && !managers.includes(role)) return `Provider keys are managed by admins. Your role is ${role}.`;
  const { early_access: features } = await call.control(workspaceEndpoints.show, { id });
  if (features.includes("own_keys")) return null;
  return "Own provider keys are in early access, and off for this workspace: the operator switches them on in its settings.";
}

const tones: Record<OwnKeyView["state"], Tone> = { active: "good", refused: "bad", disabled: "neutral" };

export function keyState(state: OwnKeyView["state"]): Html {
  return badge(tones[state], state);
}

async function renderNew(call: PageCall): Promise<PageContent> {
  const reason = await reasonAgainstKeys(call);
  const main = reason === null ? await newProviderKeyForm(call, call.link("/provider-keys/new")) : markup`<p>${reason}</p>`;
  return { title: "Add a provider key", trail: [{ path: call.link("/provider-keys"), label: "Provider keys" }], main };
}

/** The key itself, which no page shows again, and a statement about its account. */
export const secretFields: readonly Field[] = [
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
  const { data: providers } = await call.control(providerKeyEndpoints.listProviders);
  if (providers.length === 0)
    return emptyState("No provider can take a key yet: the operator has to check a provider’s terms first.", null);
  // None is chosen beforehand: a key must not reach another provider by mistake.
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
    state: formState(call, { action: "create" }),
    submit: "Test and store it",
    cancelPath: call.link("/provider-keys"),
  });
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

/**
 * The keys of a workspace, active and revoked, with what each has spent; and the form that creates one, as a dialog or a separate page,
 * which then shows the key once. A member sees their own. The fields of a key's limits are those of the form that changes a key.
 */
import type { KeyView, NewKeyView } from "../../../accounts/keys/schema.ts";
import { nameCharactersMax, requestsPerMinuteDefault, requestsPerMinuteMax } from "../../../accounts/limits.ts";
import type { GivenTo } from "../../../control-api/endpoint.ts";
import { keyEndpoints } from "../../../control-api/endpoints/keys.ts";
import { workspaceEndpoints } from "../../../control-api/endpoints/workspaces.ts";
import { markup, type Html } from "../../../http/html.ts";
import { chartScript } from "../../look/charts.ts";
import { limitMeter } from "../../look/limit-meter.ts";
import { address, form, type Field } from "../../look/forms.ts";
import {
  dialog,
  opener,
  emptyState,
  tabs,
  cursorLinks,
  table,
  type Column,
  money,
  time,
  userText,
  codeSamples,
  copyField,
  closeButton,
  typedUsd,
} from "../../look/parts.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { Page, PageCall, PageContent, FormFields, ActionResult } from "../../page.ts";
import { zoneScript } from "./day-zone.ts";
import { samplesFor } from "./request-samples.ts";

export const keysPage: Page = {
  of: "workspace",
  path: "/keys",
  navigation: { section: "Inference", label: "Keys", icon: "key" },
  roles: ["member", "auditor", "admin", "super_admin"],
  // A key's page in the drawer needs them.
  scripts: [zoneScript, chartScript],
  render,
  actions: { create: createKey },
};

/** The month's spend and reservations against the key's limit. */
export function spent({ kind, ...key }: KeyView): Html | null {
  if (kind === "tools") return null;
  const { month_spent_usd: used, monthly_spend_limit_usd: limit, reserved_usd: reserved, month_left_usd: left } = key;
  return limitMeter({ limit, spent: used, reserved, left });
}

/** Today's, in UTC, against the key's daily limit; null: it has none. */
export function spentToday(key: KeyView): Html | null {
  const { day_spent_usd: used, daily_spend_limit_usd: limit, reserved_usd: reserved, day_left_usd: left } = key;
  return used === null || limit === null ? null : limitMeter({ limit, spent: used, reserved, left });
}

async function render(call: PageCall): Promise<PageContent> {
  const revoked = call.query.get("tab") === "revoked";
  const after = call.query.get("after") ?? "";
  const { data: keys } = await call.control(keyEndpoints.list, {
    revoked: revoked ? "true" : "false",
    limit: String(rowsOfPage),
    ...(after !== "" && { after }),
  });
  const { enabled } = await call.control(workspaceEndpoints.show, { id: call.workspace.id });
  const reason = mayCreate(call, enabled);
  const create = reason === null ? opener({ dialog: "new-key", path: call.link("/keys/new"), label: "Create key" }) : null;
  const views = tabs("Keys by state", [
    { path: call.link("/keys"), label: "Active", count: null, current: !revoked },
    { path: call.link("/keys?tab=revoked"), label: "Revoked", count: null, current: revoked },
  ]);
  return {
    title: "Keys",
    lead: "A key calls the inference API or the tools API in its owner's name, on the workspace's credit.",
    actions: create,
    main: markup`${reason === null ? null : markup`<p class="hint">${reason}</p>`}${views}
      ${revoked ? revokedKeys(keys, call) : activeKeys(keys, call, create)}${further(keys, { call, after })}
      ${reason === null ? createDialog(call) : null}`,
  };
}

const rowsOfPage = 100;

function further(keys: readonly KeyView[], { call, after }: { call: PageCall; after: string }): Html | null {
  const tab = call.query.get("tab") ?? "";
  const last = keys.length === rowsOfPage ? keys.at(-1)?.id : undefined;
  return cursorLinks({
    shown: `${keys.length} keys`,
    firstPath: after === "" ? null : address(call.path, { tab }),
    nextPath: last === undefined ? null : address(call.path, { tab, after: last }),
  });
}

function createDialog(call: PageCall): Html {
  const body = newKeyForm(call, call.link("/keys"));
  return dialog({ id: "new-key", title: "Create key", body, asks: "changes", opensAtOnce: call.refused?.action === "create" });
}

function nameColumns(call: PageCall): Column<KeyView>[] {
  const name = ({ id, name: label }: KeyView): Html => markup`<a href="${call.link(`/keys/${id}`)}">${userText(label)}</a>`;
  return [
    { label: "Name", kind: "text", cell: name },
    { label: "Key", kind: "text", cell: ({ masked }) => markup`<code class="whole">${masked}</code>` },
    { label: "Opens", kind: "text", cell: ({ kind }) => (kind === "tools" ? "tools" : "inference") },
    { label: "Owner", kind: "text", cell: ({ owner }) => owner },
  ];
}

function activeKeys(rows: readonly KeyView[], call: PageCall, create: Html | null): Html {
  return table<KeyView>({
    caption: "Active keys",
    columns: [
      ...nameColumns(call),
      {
        label: "Requests a minute",
        kind: "number",
        cell: ({ rate_limit_rpm: limit }) => limit ?? markup`<span class="none">default</span>`,
      },
      { label: "Spent this month", kind: "money", cell: spent },
      { label: "Last used", kind: "time", cell: ({ last_used_at: at }) => time(at) },
    ],
    rows,
    empty: emptyState("There is no active key here yet. A key lets your programs call models, or the tools.", create),
  });
}

function revokedKeys(rows: readonly KeyView[], call: PageCall): Html {
  return table<KeyView>({
    caption: "Revoked keys",
    columns: [
      ...nameColumns(call),
      { label: "Revoked", kind: "time", cell: ({ revoked_at: at }) => time(at) },
      {
        label: "Spent this month",
        kind: "money",
        cell: ({ kind, month_spent_usd: used }) => (kind === "tools" ? null : money(used)),
      },
    ],
    rows,
    empty: emptyState("No key was revoked.", null),
  });
}

// Creating a key.

export const newKeyPage: Page = {
  of: "workspace",
  path: "/keys/new",
  navigation: null,
  roles: ["member", "admin", "super_admin"],
  render: renderNewKey,
  actions: { create: createKey },
};

async function renderNewKey(call: PageCall): Promise<PageContent> {
  return {
    title: "Create key",
    trail: [{ path: call.link("/keys"), label: "Keys" }],
    main: newKeyForm(call, call.link("/keys/new")),
  };
}

/** Why the viewer may not create a key; null: they may. */
function mayCreate({ workspace: { role }, viewer }: PageCall, enabled: boolean): string | null {
  if (role === "auditor") return "Auditors are read-only: they create no keys.";
  if (viewer.email === null)
    return "A key belongs to a person. As the operator, create one for its owner with the command line: key create --owner.";
  if (!enabled) return "The platform is switched off for this workspace: keys can be created once the operator switches it on.";
  return null;
}

function newKeyForm(call: PageCall, action: string): Html {
  return form({
    id: "new-key",
    action,
    hidden: hiddenFields(call, "create"),
    fields: [
      {
        kind: "radios",
        name: "kind",
        label: "It opens",
        choices: [
          { value: "inference", label: "The inference API", hint: "Models, at /gpt/v1." },
          { value: "tools", label: "The tools API and MCP", hint: "SBOMs, findings and tickets, at /api/tools and /mcp." },
        ],
      },
      ...limitFields,
    ],
    state: formState(call, { action: "create", values: { kind: "inference" } }),
    submit: "Create key",
    cancelPath: call.link("/keys"),
  });
}

async function createKey(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const kind = typed.text("kind") === "tools" ? "tools" : "inference";
  const created = await call.control(keyEndpoints.create, { kind, ...limitsIn(typed, kind) });
  return { show: shownOnce(created, call) };
}

/** The only page that ever shows the key. When its address is loaded again, the key is masked. */
function shownOnce(created: NewKeyView, call: PageCall): PageContent {
  const { key, kind, name } = created;
  const samples =
    kind === "tools"
      ? null
      : codeSamples({ id: "first-call", legend: "A first request", samples: samplesFor({ publicUrl: call.publicUrl, key }) });
  const body = markup`<p>This is the only time that the key is shown. Store it now.</p>
    ${copyField({ id: "full-key", label: "Key", value: key })}${samples}${closeButton("I have stored it")}`;
  return {
    title: "Keys",
    main: markup`${dialog({ id: "created-key", title: `The key “${name}”`, body, asks: "always", opensAtOnce: true, thenPath: call.link("/keys") })}
      <p>The key ${userText(name)} is created.</p>
      <p class="actions"><a class="button" href="${call.link(`/keys/${created.id}`)}">See the key</a><a class="button quiet" href="${call.link("/keys")}">See all keys</a></p>`,
  };
}

// The form of a key, for creating and editing it.

export const limitFields: readonly Field[] = [
  {
    kind: "text",
    name: "name",
    label: "Name",
    hint: "What it is for. If empty: “Untitled key”.",
    charactersMax: nameCharactersMax,
  },
  {
    kind: "money",
    name: "monthly_spend_limit_usd",
    label: "Monthly spend limit in USD",
    hint: "For each calendar month in UTC. If empty, the key has no monthly limit.",
  },
  {
    kind: "money",
    name: "daily_spend_limit_usd",
    label: "Daily spend limit in USD",
    hint: "For each day in UTC, in addition to the monthly limit. If empty, the key has none.",
  },
  {
    kind: "whole",
    name: "rate_limit_rpm",
    label: "Requests a minute",
    hint: `From 1 to ${requestsPerMinuteMax.toLocaleString("en-US")}. If empty: ${requestsPerMinuteDefault}.`,
  },
];

const spendLimits: readonly string[] = ["monthly_spend_limit_usd", "daily_spend_limit_usd"];

/** A key of the tools API spends nothing. */
export const toolsLimitFields = limitFields.filter(({ name }) => !spendLimits.includes(name));

/** The fields for the control API; a value that is not a number stays as typed, and is refused there by the field's name. */
export function limitsIn(form: FormFields, kind: KeyView["kind"]): Omit<GivenTo<typeof keyEndpoints.edit>, "id" | "workspace"> {
  const requests = form.text("rate_limit_rpm");
  return {
    name: form.text("name"),
    ...(kind !== "tools" && {
      monthly_spend_limit_usd: form.text("monthly_spend_limit_usd") || null,
      daily_spend_limit_usd: form.text("daily_spend_limit_usd") || null,
    }),
    rate_limit_rpm: requests === "" ? null : /^\d{1,9}$/.test(requests) ? Number(requests) : requests,
  };
}

export function valuesOf({ name, rate_limit_rpm: requests, ...limits }: KeyView): Record<string, string> {
  return {
    name,
    monthly_spend_limit_usd: typedUsd(limits.monthly_spend_limit_usd),
    daily_spend_limit_usd: typedUsd(limits.daily_spend_limit_usd),
    rate_limit_rpm: requests === null ? "" : String(requests),
  };
}

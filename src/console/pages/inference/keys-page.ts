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
import { parseUsd } from "../../../kernel/money.ts";
import { chartScript } from "../../look/charts.ts";
import { limitMeter } from "../../look/limit-meter.ts";
import { address, findForm, form, type Field } from "../../look/forms.ts";
import {
  dialog,
  opener,
  emptyState,
  tabs,
  cursorLinks,
  money,
  time,
  userText,
  codeSamples,
  copyField,
  closeButton,
  typedUsd,
} from "../../look/parts.ts";
import { arrangedList, type ListColumn } from "../../look/list-view.ts";
import { formState, hiddenFields, isChanged } from "../../page-forms.ts";
import type { Page, PageCall, PageContent, FormFields, ActionResult } from "../../page.ts";
import { zoneScript } from "./day-zone.ts";
import { samplesFor, toolsSamplesFor } from "./request-samples.ts";

export const keysPage: Page = {
  of: "workspace",
  path: "/keys",
  list: "keys",
  navigation: { section: "Inference", label: "Keys", icon: "key" },
  reference: "inference",
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
  const text = call.query.get("text")?.trim() ?? "";
  const { data: keys } = await call.control(keyEndpoints.list, {
    revoked: revoked ? "true" : "false",
    limit: String(rowsOfPage),
    ...(text !== "" && { text }),
    ...(after !== "" && { after }),
  });
  const { enabled } = await call.control(workspaceEndpoints.show, { id: call.workspace.id });
  const reason = mayCreate(call, enabled);
  const create = reason === null ? opener({ dialog: "new-key", path: call.link("/keys/new"), label: "Create key" }) : null;
  const views = tabs("Keys by state", [
    { path: address(call.path, { text }), label: "Active", count: null, current: !revoked },
    { path: address(call.path, { tab: "revoked", text }), label: "Revoked", count: null, current: revoked },
  ]);
  const list = arrangedList<KeyView>(
    {
      caption: revoked ? "Revoked keys" : "Active keys",
      columns: [...nameColumns(call), ...(revoked ? revokedColumns : activeColumns(keys))],
      rows: keys,
      empty: noKeys({ text, revoked, create }),
      isWhole: after === "" && keys.length < rowsOfPage,
      order: "in order of creation",
    },
    call,
  );
  return {
    title: "Keys",
    lead: "A key calls the inference API or the tools API in its owner's name, on the workspace's credit.",
    actions: markup`${list.view}${create}`,
    main: markup`${reason === null ? null : markup`<p class="hint">${reason}</p>`}${views}${findForm({ path: call.path, label: "Name, owner or last characters", text, rows: keys.length, kept: { ...(revoked && { tab: "revoked" }), ...list.kept } })}
      ${list.table}${further(keys, { call, after, kept: { ...list.kept, text } })}
      ${reason === null ? createDialog(call) : null}`,
  };
}

const rowsOfPage = 100;
function noKeys({ text, revoked, create }: { text: string; revoked: boolean; create: Html | null }): Html {
  if (text !== "")
    return emptyState(`No ${revoked ? "revoked" : "active"} key has this text in its name, owner or last characters.`, null);
  return revoked
    ? emptyState("No revoked keys.", null)
    : emptyState("No keys yet. A key lets your programs call models, or the tools.", create);
}

function further(
  keys: readonly KeyView[],
  { call, after, kept }: { call: PageCall; after: string; kept: Record<string, string> },
): Html | null {
  const tab = call.query.get("tab") ?? "";
  const last = keys.length === rowsOfPage ? keys.at(-1)?.id : undefined;
  return cursorLinks({
    shown: `${keys.length} keys`,
    firstPath: after === "" ? null : address(call.path, { tab, ...kept }),
    nextPath: last === undefined ? null : address(call.path, { tab, ...kept, after: last }),
  });
}

function createDialog(call: PageCall): Html {
  const body = newKeyForm(call, call.link("/keys"));
  return dialog({ id: "new-key", title: "Create key", body, asks: "changes", opensAtOnce: call.refused?.action === "create" });
}

function nameColumns(call: PageCall): ListColumn<KeyView>[] {
  const name = ({ id, name: label }: KeyView): Html => markup`<a href="${call.link(`/keys/${id}`)}">${userText(label)}</a>`;
  return [
    { name: "name", label: "Name", kind: "text", cell: name, by: (key) => key.name },
    { name: "key", label: "Key", kind: "text", cell: ({ masked }) => markup`<code class="whole">${masked}</code>` },
    { name: "scope", label: "Scope", kind: "text", cell: scopeName, by: scopeName },
    { name: "owner", label: "Owner", kind: "text", cell: ({ owner }) => owner, by: ({ owner }) => owner },
  ];
}

/** What a key opens, in a word. */
export function scopeName({ kind }: Pick<KeyView, "kind">): string {
  return kind === "tools" ? "Tools" : "Inference";
}

const monthSpent = ({ kind, month_spent_usd: usd }: KeyView): bigint | null => (kind === "tools" ? null : parseUsd(usd));

/** Today's spend has a column once one of the keys has a daily limit. */
function activeColumns(keys: readonly KeyView[]): ListColumn<KeyView>[] {
  const today = ({ day_spent_usd: usd }: KeyView): bigint | null => (usd === null ? null : parseUsd(usd));
  return [
    {
      name: "rpm",
      label: "Rate limit",
      kind: "number",
      cell: ({ rate_limit_rpm: limit }) => (limit === null ? markup`<span class="none">default</span>` : `${limit} a minute`),
      by: ({ rate_limit_rpm: limit }) => limit,
    },
    { name: "month", label: "Spent this month", kind: "money", cell: spent, by: monthSpent },
    {
      name: "today",
      label: "Spent today",
      kind: "money",
      cell: spentToday,
      by: today,
      isExtra: keys.every((key) => today(key) === null),
    },
    {
      name: "used",
      label: "Last used",
      kind: "time",
      cell: ({ last_used_at: at }) => time(at),
      by: ({ last_used_at: at }) => at,
    },
    {
      name: "created",
      label: "Created",
      kind: "time",
      cell: ({ created_at: at }) => time(at),
      by: (key) => key.created_at,
      isExtra: true,
    },
  ];
}

const revokedColumns: readonly ListColumn<KeyView>[] = [
  { name: "revoked", label: "Revoked", kind: "time", cell: ({ revoked_at: at }) => time(at), by: ({ revoked_at: at }) => at },
  {
    name: "month",
    label: "Spent this month",
    kind: "money",
    cell: ({ kind, month_spent_usd: used }) => (kind === "tools" ? null : money(used)),
    by: monthSpent,
  },
];

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
  if (role === "auditor") return "Auditors are read-only and cannot create keys.";
  if (viewer.email === null)
    return "A key belongs to a person. As the operator, create one for its owner on the command line: key create --owner.";
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
        label: "Scope",
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
  const { publicUrl } = call;
  const { slug } = call.parts.control;
  const samples =
    kind === "tools"
      ? codeSamples({ id: "first-call", legend: "Set up a client", samples: toolsSamplesFor({ publicUrl, slug, key }) })
      : codeSamples({ id: "first-call", legend: "A first request", samples: samplesFor({ publicUrl, key }) });
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

type LimitEdit = Omit<GivenTo<typeof keyEndpoints.edit>, "id" | "workspace">;

/**
 * The fields for the control API, of a form that showed values only those that were changed. A value that is not a number stays as typed,
 * and is refused there by the field's name.
 */
export function limitsIn(form: FormFields, kind: KeyView["kind"]): LimitEdit {
  const requests = form.text("rate_limit_rpm");
  const spends = (name: string): boolean => kind !== "tools" && isChanged(form, name);
  return {
    ...(isChanged(form, "name") && { name: form.text("name") }),
    ...(spends("monthly_spend_limit_usd") && { monthly_spend_limit_usd: form.text("monthly_spend_limit_usd") || null }),
    ...(spends("daily_spend_limit_usd") && { daily_spend_limit_usd: form.text("daily_spend_limit_usd") || null }),
    ...(isChanged(form, "rate_limit_rpm") && {
      rate_limit_rpm: requests === "" ? null : /^\d{1,9}$/.test(requests) ? Number(requests) : requests,
    }),
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

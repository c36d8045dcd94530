/** The keys of a workspace, active and revoked, with what each has spent, and the form that creates one. A member sees their own. */
import type { KeyView } from "../../../accounts/keys/schema.ts";
import { keyEndpoints } from "../../../control-api/endpoints/keys.ts";
import { workspaceEndpoints } from "../../../control-api/endpoints/workspaces.ts";
import { markup, type Html } from "../../../http/html.ts";
import { parseUsd } from "../../../kernel/money.ts";
import { meter } from "../../look/charts.ts";
import { address } from "../../look/forms.ts";
import { dialog, opener, emptyState, tabs } from "../../look/parts.ts";
import { cursorLinks, table, type Column } from "../../look/table.ts";
import { money, time, userText } from "../../look/values.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { createKey, mayCreate, newKeyForm } from "./new-key.ts";

export const keysPage: Page = {
  of: "workspace",
  path: "/keys",
  navigation: { section: "Inference", label: "Keys", icon: "key" },
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
  actions: { create: createKey },
};

/** The month's spend against the key's limit. */
export function spent({ kind, month_spent_usd: used, monthly_spend_limit_usd: limit }: KeyView): Html | null {
  if (kind === "tools") return null;
  const of = limit === null ? null : parseUsd(limit);
  const words = limit === null ? money(used) : markup`${money(used)} of ${money(limit)}`;
  return meter({ used: parseUsd(used), of, words });
}

/** Today's spend, in UTC, against the key's daily limit; null: it has none. */
export function spentToday({ day_spent_usd: used, daily_spend_limit_usd: limit }: KeyView): Html | null {
  if (used === null || limit === null) return null;
  return meter({ used: parseUsd(used), of: parseUsd(limit), words: markup`${money(used)} of ${money(limit)}` });
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

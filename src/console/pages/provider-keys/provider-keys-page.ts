/** The workspace's own keys for providers. Members see that there is one. */
import type { OwnKeyView } from "../../../gateway/own-keys/schema.ts";
import { providerFormMs } from "../../limits.ts";
import { markup, type Html } from "../../../http/html.ts";
import { dialog, opener } from "../../look/dialog.ts";
import { monogram } from "../../../http/monogram.ts";
import { emptyState } from "../../look/states.ts";
import { table, type Column } from "../../look/table.ts";
import { time } from "../../look/time.ts";
import { userText } from "../../look/user-text.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { keyState } from "./key-state.ts";
import { createProviderKey, newKeyForm } from "./new-provider-key.ts";
import { reasonAgainstKeys } from "./own-key-rights.ts";

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
  const { data: keys } = await call.control<{ data: OwnKeyView[] }>("GET", "/provider-keys");
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
  const body = await newKeyForm(call, call.link("/provider-keys"));
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

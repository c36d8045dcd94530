/** The vendors that a workspace is connected to; what needs attention comes first. */
import { markup, type Html } from "../../../http/html.ts";
import type { ConnectionView } from "../../../connectors/connections/schema.ts";
import { monogram } from "../../../http/monogram.ts";
import { emptyState } from "../../look/states.ts";
import { table } from "../../look/table.ts";
import { time } from "../../look/time.ts";
import { userText } from "../../look/user-text.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { pageRows, rowsLinks, skippedRows } from "../security/rows-query.ts";
import { connectorName } from "./connector.ts";
import { attentionOf, connectionBadge } from "./state.ts";

export const connectionsPage: Page = {
  of: "workspace",
  path: "/connections",
  navigation: { section: "Compliance", label: "Connections", icon: "connections" },
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
};

async function render(call: PageCall): Promise<PageContent> {
  const { data } = await call.control<{ data: ConnectionView[] }>("GET", "/connections");
  const sorted = data.toSorted((one, other) => attentionOf(one) - attentionOf(other));
  const rows = sorted.slice(skippedRows(call), skippedRows(call) + pageRows + 1);
  const mayChange = mayManage(call);
  const connect = mayChange ? markup`<a class="button" href="${call.link("/connections/new")}">Connect a vendor</a>` : null;
  return {
    title: "Connections",
    lead: "A connection holds the credentials of a vendor, encrypted. No page shows them again.",
    actions: connect,
    main: markup`${mayChange ? null : markup`<p class="hint">Only admins connect vendors, test and delete connections.</p>`}
      ${list(rows.slice(0, pageRows), call, connect)}
      ${rows.length === 0 ? null : rowsLinks(call, { found: rows.length, what: "Connections" })}`,
  };
}

/** Whether the viewer may change connections; the control API refuses everyone else. */
export function mayManage({ workspace: { role } }: PageCall): boolean {
  return role === "admin" || role === "super_admin" || role === "operator";
}

function list(rows: readonly ConnectionView[], call: PageCall, connect: Html | null): Html {
  const name = ({ id, connector }: ConnectionView): Html => {
    const words = connectorName(connector, call);
    return markup`${monogram(words)} <a href="${call.link(`/connections/${id}`)}">${userText(words)}</a>`;
  };
  return table<ConnectionView>({
    caption: "Connections",
    columns: [
      { label: "Vendor", kind: "text", cell: name },
      { label: "State", kind: "badge", cell: connectionBadge },
      { label: "What the last test showed", kind: "text", cell: ({ last_test: test }) => test?.message ?? null },
      { label: "Tested", kind: "time", cell: ({ last_test: test }) => time(test?.tested_at ?? null) },
      { label: "Credentials set", kind: "time", cell: ({ updated_at: at }) => time(at) },
    ],
    rows,
    empty: emptyState("No vendor is connected yet.", connect),
  });
}

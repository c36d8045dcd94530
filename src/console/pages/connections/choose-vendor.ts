/** The vendors that can be connected, by a search. */
import { markup, type Html } from "../../../http/html.ts";
import type { ConnectorRow } from "../../../connectors/catalog/row.ts";
import { filterForm } from "../../look/forms/filter-form.ts";
import { monogram } from "../../../http/monogram.ts";
import { emptyState } from "../../look/states.ts";
import { table } from "../../look/table.ts";
import { userText } from "../../look/user-text.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { searchConnectors } from "./connector.ts";

export const chooseVendorPage: Page = {
  of: "workspace",
  path: "/connections/new",
  navigation: null,
  roles: ["admin", "super_admin"],
  render,
};

const rowsShown = 50;

async function render(call: PageCall): Promise<PageContent> {
  const q = (call.query.get("q") ?? "").trim().slice(0, 200);
  const { rows, total, didYouMean } = searchConnectors(q, { call, most: rowsShown });
  return {
    title: "Connect a vendor",
    trail: [{ path: call.link("/connections"), label: "Connections" }],
    main: markup`${filterForm({ path: call.path, filters: [{ name: "q", label: "Vendor or product", kind: "text", value: q }] })}
      ${didYouMean === null ? null : markup`<p>Did you mean ${userText(didYouMean)}? Nothing is called “${userText(q)}”.</p>`}
      ${list(rows, { call, q })}
      ${total > rows.length ? markup`<p class="under">The first ${rows.length} of ${total}: search for the one that you mean.</p>` : null}`,
  };
}

function list(rows: readonly ConnectorRow[], { call, q }: { call: PageCall; q: string }): Html {
  const name = ({ slug, name: words }: ConnectorRow): Html =>
    markup`${monogram(words)} <a href="${call.link(`/connections/new/${slug}`)}">${userText(words)}</a>`;
  return table<ConnectorRow>({
    caption: "Vendors",
    columns: [
      { label: "Name", kind: "text", cell: name },
      { label: "Category", kind: "text", cell: ({ category }) => category },
      { label: "The form asks for", kind: "text", cell: ({ columns }) => columns.form_asks_for },
    ],
    rows,
    empty: emptyState(`The search finds no vendor for “${q}”.`, markup`<a class="button quiet" href="${call.path}">Show all</a>`),
  });
}

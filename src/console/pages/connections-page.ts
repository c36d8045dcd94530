/**
 * The vendors that a workspace is connected to, those that need attention first; the states of connections in words; and how pages find a
 * connector of the published catalog.
 */
import { DomainError } from "../../accounts/errors.ts";
import { methodNames } from "../../connectors/catalog/files/columns.ts";
import { findConnector } from "../../connectors/catalog/find.ts";
import { rowIn, type Published } from "../../connectors/catalog/published.ts";
import type { ConnectorRow } from "../../connectors/catalog/row.ts";
import { search } from "../../connectors/catalog/search.ts";
import type { ConnectionView, ConnectionTest } from "../../connectors/connections/schema.ts";
import { connectionEndpoints } from "../../control-api/endpoints/connections.ts";
import { markup, type Html } from "../../http/html.ts";
import { monogram } from "../../http/monogram.ts";
import { arrangedList, type ListColumn } from "../look/list-view.ts";
import { badge, emptyState, time, type Tone, userText } from "../look/parts.ts";
import type { Page, PageCall, PageContent } from "../page.ts";
import { pageRows, rowsLinks, skippedRows } from "./rows-query.ts";

export const connectionsPage: Page = {
  of: "workspace",
  path: "/connections",
  list: "connections",
  navigation: { section: "Compliance", label: "Connections", icon: "connections" },
  reference: "control-security",
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
};

async function render(call: PageCall): Promise<PageContent> {
  const { data } = await call.control(connectionEndpoints.list);
  const mayChange = mayManage(call);
  const connect = mayChange ? markup`<a class="button" href="${call.link("/connections/new")}">Connect a vendor</a>` : null;
  const list = arrangedList<ConnectionView>(
    {
      caption: "Connections",
      columns: columnsOf(call),
      rows: data.toSorted((one, other) => attentionOf(one) - attentionOf(other)),
      empty: emptyState("No connections yet.", connect),
      isWhole: true,
      order: "those that need attention first",
      part: { from: skippedRows(call), most: pageRows },
    },
    call,
  );
  return {
    title: "Connections",
    lead: "A connection holds the credentials of a vendor, encrypted. No page shows them again.",
    actions: markup`${list.view}${connect}`,
    main: markup`${mayChange ? null : markup`<p class="hint">Only admins connect vendors, test and delete connections.</p>`}
      ${list.table}${data.length === 0 ? null : rowsLinks(call, { found: data.length - skippedRows(call), what: "Connections", filters: list.kept })}`,
  };
}

/** Whether the viewer may change connections; the control API refuses everyone else. */
export function mayManage({ workspace: { role } }: PageCall): boolean {
  return role === "admin" || role === "super_admin" || role === "operator";
}

function columnsOf(call: PageCall): ListColumn<ConnectionView>[] {
  const productOf = ({ connector }: ConnectionView): string => connectorName(connector, call);
  const nameOf = (row: ConnectionView): string => row.name ?? productOf(row);
  const named = (row: ConnectionView): Html =>
    markup`${monogram(productOf(row))} <a href="${call.link(`/connections/${row.id}`)}">${userText(nameOf(row))}</a>${row.name === null ? null : markup`<span class="under">${productOf(row)}</span>`}`;
  return [
    { name: "vendor", label: "Connection", kind: "text", cell: named, by: nameOf },
    { name: "state", label: "State", kind: "badge", cell: connectionBadge, by: attentionOf },
    { name: "result", label: "Last result", kind: "text", cell: ({ last_test: test }) => test?.message ?? null },
    {
      name: "tested",
      label: "Tested",
      kind: "time",
      cell: ({ last_test: test }) => time(test?.tested_at ?? null),
      by: ({ last_test: test }) => test?.tested_at ?? null,
    },
    {
      name: "set",
      label: "Credentials set",
      kind: "time",
      cell: ({ updated_at: at }) => time(at),
      by: ({ updated_at: at }) => at,
    },
  ];
}

// The state of a connection: what its last test showed.

type Outcome = ConnectionTest["outcome"];

const outcomes: Record<Outcome, { tone: Tone; word: string }> = {
  works: { tone: "good", word: "works" },
  refused: { tone: "bad", word: "refused" },
  lacks_grant: { tone: "bad", word: "lacks a right" },
  rate_limited: { tone: "warn", word: "try later" },
  unusable: { tone: "bad", word: "unusable" },
  unreachable: { tone: "warn", word: "unreachable" },
  unexpected: { tone: "warn", word: "unclear" },
};

type Judged = Pick<ConnectionView, "method" | "testable" | "last_test">;

export function connectionBadge({ method, testable, last_test: test }: Judged): Html {
  if (method === "record_only") return badge("neutral", "on record");
  if (test !== null) return badge(outcomes[test.outcome].tone, outcomes[test.outcome].word);
  return testable ? badge("neutral", "not tested") : badge("neutral", "no test");
}

/** The rank of a connection: those that need attention come first, then those never tested. */
export function attentionOf({ method, testable, last_test: test }: Judged): number {
  if (test !== null && test.outcome !== "works") return outcomes[test.outcome].tone === "bad" ? 0 : 1;
  if (test === null && testable) return 2;
  return method === "record_only" ? 4 : 3;
}

export function testedWords({ outcome, message }: Pick<ConnectionTest, "outcome" | "message">): string {
  return outcome === "works" ? "The test succeeded: the vendor accepted the credentials." : `The test failed. ${message}.`;
}

export function methodName(method: string): string {
  return Object.entries(methodNames).find(([known]) => known === method)?.[1] ?? method;
}

// Connectors of the catalog that this service has published.

/** @throws DomainError unavailable until a catalog is published */
export function catalogOf({ parts }: Pick<PageCall, "parts">): Published {
  const { published } = parts.control.connectors;
  if (published === null) throw new DomainError("unavailable", "There is no connector catalog yet: try again shortly");
  return published;
}

/** @throws DomainError not_found */
export function requireConnector(idOrSlug: string, call: Pick<PageCall, "parts">): ConnectorRow {
  const row = findConnector(idOrSlug, catalogOf(call));
  if (row === undefined) throw new DomainError("not_found", `There is no connector "${idOrSlug.slice(0, 100)}" in the catalog`);
  return row;
}

/** Its name, or its id if the catalog no longer has it. */
export function connectorName(id: string, { parts }: Pick<PageCall, "parts">): string {
  const { published } = parts.control.connectors;
  return (published === null ? undefined : findConnector(id, published)?.name) ?? id;
}

/** The connectors that the words find, the best first, as on the public page. */
export function searchConnectors(
  q: string,
  { call, most }: { call: Pick<PageCall, "parts">; most: number },
): { rows: ConnectorRow[]; total: number; didYouMean: string | null } {
  const { connectors: found, didYouMean } = search(q, catalogOf(call).terms);
  return { rows: found.slice(0, most).map(({ json }) => rowIn(json)), total: found.length, didYouMean };
}

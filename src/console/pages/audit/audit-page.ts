/** The audit log of a workspace: who changed what, from which value to which. */
import type { AuditView } from "../../../accounts/audit/list.ts";
import { markup, type Html } from "../../../http/html.ts";
import { auditRowsMax } from "../../../control-api/limits.ts";
import { cursorLinks } from "../../look/cursor-links.ts";
import { address } from "../../look/forms/address.ts";
import { filterForm, type Filter } from "../../look/forms/filter-form.ts";
import { emptyState } from "../../look/states.ts";
import { table } from "../../look/table.ts";
import { time } from "../../look/time.ts";
import { userText } from "../../look/user-text.ts";
import type { CsvFile, Page, PageCall, PageContent } from "../../page.ts";
import { changeLines, changeText } from "./change-words.ts";
import { eventChoices, eventWords } from "./event-words.ts";
import { targetLink } from "./target-link.ts";

export const auditPage: Page = {
  of: "workspace",
  path: "/audit",
  navigation: { section: "Workspace", label: "Audit", icon: "audit" },
  roles: ["auditor", "admin", "super_admin"],
  render,
  csv,
};

const rowsOfPage = 50;
const filterNames = ["event", "actor", "from", "to"] as const;
type Filters = Partial<Record<(typeof filterNames)[number], string>>;

/** What is set in the address. */
function filtersOf({ query }: PageCall): Filters {
  return Object.fromEntries(
    filterNames.flatMap((name): [string, string][] => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])),
  );
}

async function read(call: PageCall, limit: number): Promise<AuditView[]> {
  const { event, actor, from, to } = filtersOf(call);
  const before = call.query.get("before");
  const { data } = await call.control<{ data: AuditView[] }>("GET", "/audit", {
    ...(event !== undefined && { event }),
    ...(actor !== undefined && { actor: actor.trim().toLowerCase() }),
    ...(from !== undefined && { from: startOf(from) }),
    ...(to !== undefined && { to: startOf(to, 1) }),
    ...(before && { before }),
    limit: String(limit),
  });
  return data;
}

/** The beginning of a day in UTC, or of one after it. A text that is no day stays, and is refused by name. */
function startOf(day: string, daysLater = 0): string {
  const at = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return day;
  at.setUTCDate(at.getUTCDate() + daysLater);
  return at.toISOString();
}

async function render(call: PageCall): Promise<PageContent> {
  const found = await read(call, rowsOfPage + 1);
  const rows = found.slice(0, rowsOfPage);
  const filters = filtersOf(call);
  const last = found.length > rowsOfPage ? rows.at(-1) : undefined;
  return {
    title: "Audit",
    lead: "Who changed what in this workspace, newest first. Nothing here can be changed or deleted.",
    actions: markup`<a class="button quiet" href="${address(call.path, { ...filters, before: call.query.get("before") ?? "", as: "csv" })}">CSV</a>`,
    main: markup`${filterForm({ path: call.path, filters: filterFields(filters) })}${auditTable(rows, call)}
      ${cursorLinks({
        shown: `${rows.length} changes`,
        firstPath: call.query.get("before") ? address(call.path, filters) : null,
        nextPath: last === undefined ? null : address(call.path, { ...filters, before: last.id }),
      })}`,
  };
}

function filterFields({ event = "", actor = "", from = "", to = "" }: Filters): Filter[] {
  return [
    { name: "event", label: "Event", kind: "choice", value: event, choices: [{ value: "", label: "All" }, ...eventChoices] },
    { name: "actor", label: "Actor", kind: "text", value: actor, charactersMax: 254 },
    { name: "from", label: "From (UTC)", kind: "date", value: from },
    { name: "to", label: "To (UTC)", kind: "date", value: to },
  ];
}

function auditTable(rows: readonly AuditView[], call: PageCall): Html {
  const isFiltered = Object.keys(filtersOf(call)).length > 0;
  return table<AuditView>({
    caption: "Changes",
    columns: [
      { label: "Time", kind: "time", cell: ({ at }) => time(at, { seconds: true }) },
      { label: "Event", kind: "text", cell: (row) => eventCell(row, call) },
      { label: "Actor", kind: "text", cell: actorCell },
      { label: "Change", kind: "text", cell: ({ changes }) => changeLines(changes) },
    ],
    rows,
    empty: isFiltered
      ? emptyState("No change fits these filters.", markup`<a class="button quiet" href="${call.path}">Show all changes</a>`)
      : emptyState("Nothing was changed here yet.", null),
  });
}

/** What happened, and below it to what. The workspace itself needs no name on its own page. */
function eventCell({ event, target }: AuditView, call: PageCall): Html {
  const words = markup`<span title="${event}">${eventWords(event)}</span>`;
  return target === null || target === call.workspace.id ? words : markup`${words}<br />${targetLink(target, call)}`;
}

function actorCell({ actor, role, carried_by: by }: AuditView): Html {
  const how = by === null || by === "session" ? role.replace("_", " ") : `${role.replace("_", " ")}, by ${by}`;
  return markup`${userText(actor)}${actor === role ? null : markup` <span class="under">${how}</span>`}`;
}

async function csv(call: PageCall): Promise<CsvFile> {
  const rows = await read(call, auditRowsMax);
  return {
    name: `audit-${call.workspace.name}`,
    columns: ["id", "at", "event", "actor", "role", "carried_by", "target", "changes"],
    rows: rows.map((row) => [
      row.id,
      row.at,
      row.event,
      row.actor,
      row.role,
      row.carried_by,
      row.target,
      changeText(row.changes),
    ]),
  };
}

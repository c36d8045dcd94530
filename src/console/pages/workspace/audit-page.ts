/**
 * The audit log of a workspace: who changed what, from which value to which, with filters in the address and as a file. Each kind of event
 * has words here; a kind without them does not compile. Nothing here can be changed or deleted.
 */
import type { AuditKind } from "../../../accounts/audit/events.ts";
import { selectNewestAudit } from "../../../accounts/audit/store.ts";
import type { AuditView } from "../../../accounts/audit/list.ts";
import { auditEndpoints } from "../../../control-api/endpoints/audit.ts";
import { auditRowsMax } from "../../../control-api/limits.ts";
import type { CsvFile } from "../../../http/csv-response.ts";
import { markup, type Html } from "../../../http/html.ts";
import { address, filterForm, type Filter } from "../../look/forms.ts";
import { emptyState, cursorLinks, table, time, userText } from "../../look/parts.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";

export const auditPage: Page = {
  of: "workspace",
  path: "/audit",
  navigation: { section: "Workspace", label: "Audit", icon: "audit" },
  roles: ["auditor", "admin", "super_admin"],
  async changes({ query, workspace, parts }) {
    return query.has("before") ? null : ((await selectNewestAudit(workspace.id, parts.control.reads)) ?? "");
  },
  render,
  csv,
};

/** Events of the audit log in words. */
const words: Record<AuditKind, string> = {
  "workspace.created": "Workspace created",
  "workspace.updated": "Settings changed",
  "workspace.member.added": "Member added",
  "workspace.member.accepted": "Invitation accepted",
  "workspace.member.declined": "Invitation declined",
  "workspace.member.updated": "Role changed",
  "workspace.member.deactivated": "Member deactivated",
  "workspace.member.reactivated": "Member reactivated",
  "account.suspended": "Account suspended",
  "account.unsuspended": "Suspension ended",
  "account.locked": "Account locked",
  "account.unlocked": "Account unlocked",
  "account.deleted": "Account deleted",
  "account.password.set": "Password set",
  "account.factor.enabled": "Second factor turned on",
  "account.factor.replaced": "Second factor replaced",
  "account.factor.disabled": "Second factor turned off",
  "account.oidc.linked": "Provider's sign-in linked",
  "account.recovery.used": "Recovery code used",
  "account.signin.reset": "Sign-in reset",
  "account.link.created": "Sign-in link created",
  "auth.api.key.created": "Key created",
  "auth.api.key.updated": "Key changed",
  "auth.api.key.revoked": "Key revoked",
  "alert.rule.created": "Alert set",
  "alert.rule.updated": "Alert changed",
  "alert.rule.deleted": "Alert deleted",
  "alert.webhook.created": "Webhook added",
  "alert.webhook.rotated": "Webhook's secret replaced",
  "alert.webhook.deleted": "Webhook deleted",
  "alert.replayed": "Alert sent again",
  "workspace.billing.updated": "Billing details changed",
  "seller.updated": "Seller changed",
  "credit.added": "Credit added",
  "top_up.created": "Top-up started",
  "top_up.failed": "Top-up failed",
  "top_up.authentication_required": "Top-up needs a person",
  "top_up.settings.updated": "Automatic top-up changed",
  "top_up.refunded": "Top-up refunded",
  "top_up.refund_reversed": "Refund failed",
  "top_up.dispute_opened": "Top-up disputed",
  "top_up.dispute_withdrawn": "Disputed amount taken back",
  "top_up.dispute_reinstated": "Disputed amount returned",
  "log.retained": "Old log deleted",
  "prompt.shown": "Prompt read",
  "prompt.deleted": "Prompt deleted",
  "prompts.deleted": "Prompts deleted",
  "secrets.rotated": "Secrets rotated",
  "product.created": "Product created",
  "project.created": "Project created",
  "project.updated": "Project changed",
  "project.sbom.set": "SBOM uploaded",
  "project.sbom.removed": "SBOM removed",
  "project.removed": "Project removed",
  "connection.created": "Connection created",
  "connection.renamed": "Connection renamed",
  "connection.credentials.replaced": "Credentials replaced",
  "connection.tested": "Connection tested",
  "connection.deleted": "Connection deleted",
  "connection.people.read": "People of a connection read",
  "connection.people.forgotten": "People of a connection deleted",
  "provider.added": "Provider added",
  "provider.tested": "Provider tested",
  "provider.disabled": "Provider disabled",
  "provider.enabled": "Provider enabled",
  "provider.removed": "Provider removed",
  "provider.key.created": "Provider key created",
  "provider.key.replaced": "Provider key replaced",
  "provider.key.tested": "Provider key tested",
  "provider.key.disabled": "Provider key disabled",
  "provider.key.deleted": "Provider key deleted",
  "provider.key.refused": "Provider key refused",
  "provider.key.accepted": "Provider key accepted again",
  "finding.updated": "Finding triaged",
  "ticket.updated": "Ticket changed",
};

/** An event that this version does not know is shown as it is. */
export function eventWords(event: string): string {
  return new Map(Object.entries(words)).get(event) ?? event;
}

const rowsOfPage = 50;
const filterNames = ["event", "actor", "target", "from", "to"] as const;
type Filters = Partial<Record<(typeof filterNames)[number], string>>;

/** What is set in the address. */
function filtersOf({ query }: PageCall): Filters {
  return Object.fromEntries(
    filterNames.flatMap((name): [string, string][] => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])),
  );
}

async function read(call: PageCall, limit: number): Promise<AuditView[]> {
  const { event, actor, target, from, to } = filtersOf(call);
  const before = call.query.get("before");
  const { data } = await call.control(auditEndpoints.list, {
    ...(event !== undefined && { event }),
    ...(actor !== undefined && { actor: actor.trim().toLowerCase() }),
    ...(target !== undefined && { target: target.trim() }),
    ...(from !== undefined && { from: startOf(from) }),
    ...(to !== undefined && { to: startOf(to, 1) }),
    ...(before && { before }),
    limit: String(limit),
  });
  return data;
}

/** The beginning of a day in UTC, or of a day after it. Text that is not a day stays, and is refused by the field's name. */
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
    actions: markup`${evidenceLink(filters, call)}<a class="button quiet" href="${address(call.path, { ...filters, before: call.query.get("before") ?? "", as: "csv" })}">CSV</a>`,
    main: markup`${filterForm({ path: call.path, filters: filterFields(filters) })}${auditTable(rows, call)}
      ${cursorLinks({
        shown: `${rows.length} changes`,
        firstPath: call.query.get("before") ? address(call.path, filters) : null,
        nextPath: last === undefined ? null : address(call.path, { ...filters, before: last.id }),
      })}`,
  };
}

/** The pack of the days that are chosen, with the members, the keys and the closed statements. */
function evidenceLink({ from, to }: Filters, call: PageCall): Html {
  const path = address("/api/console/evidence", {
    workspace: call.workspace.id,
    from: from && startOf(from),
    to: to && startOf(to, 1),
    format: "zip",
  });
  const title = "A zip of the changes of these days, the members, the keys and the closed statements, with their SHA-256";
  return markup`<a class="button quiet" href="${path}" title="${title}" download>Evidence pack</a>`;
}

function filterFields({ event = "", actor = "", target = "", from = "", to = "" }: Filters): Filter[] {
  return [
    { name: "event", label: "Event", kind: "choice", value: event, choices: [{ value: "", label: "All" }, ...eventChoices] },
    { name: "actor", label: "Actor", kind: "text", value: actor, charactersMax: 254 },
    { name: "target", label: "Target (id or address)", kind: "text", value: target, charactersMax: 254 },
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
      ? emptyState("No changes match these filters.", markup`<a class="button quiet" href="${call.path}">Show all changes</a>`)
      : emptyState("No changes yet.", null),
  });
}

/** What happened, and below it the target. The workspace itself needs no name on its own page. */
function eventCell({ event, target, target_name: name }: AuditView, call: PageCall): Html {
  const words = markup`<span title="${event}">${eventWords(event)}</span>`;
  return target === null || target === call.workspace.id ? words : markup`${words}<br />${targetLink({ target, name }, call)}`;
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

/** The page that shows a target, by the form of its id. */
const places: readonly { form: RegExp; page: string }[] = [
  { form: /^key-[a-z2-7]{26}$/, page: "/keys/" },
  { form: /^con-[a-z2-7]{26}$/, page: "/connections/" },
  { form: /^prj_[a-z0-9]{26}$/, page: "/projects/" },
  { form: /^prd_[a-z0-9]{26}$/, page: "/products/" },
  { form: /^fnd_[a-z0-9]{26}$/, page: "/findings/" },
  { form: /^tkt_[a-z0-9]{26}$/, page: "/tickets/" },
  { form: /^top-[a-z2-7]{26}$/, page: "/top-ups/" },
  { form: /^own-[a-z2-7]{26}$/, page: "/provider-keys/" },
  { form: /^[^\s@]+@[^\s@]+$/, page: "/members/" },
];

/** An id stays in one piece if its column has room. */
function whole(target: string): Html {
  return /^[a-z]+[-_][a-z0-9]{26}$/.test(target)
    ? markup`<small><bdi class="long whole">${target}</bdi></small>`
    : userText(target);
}

/** A target that has a page here is a link, by its name if it has one; if it was deleted since, the page says so. */
function targetLink({ target, name }: { target: string; name: string | null }, call: Pick<PageCall, "link">): Html {
  const place = places.find(({ form }) => form.test(target));
  if (!place) return whole(target);
  const words = name === null ? whole(target) : markup`<span title="${target}">${userText(name)}</span>`;
  return markup`<a href="${call.link(place.page + encodeURIComponent(target))}">${words}</a>`;
}

/** For the facts of a thing: what changed it. Nothing for those who may not read the log. */
export function changesFact(target: string, call: PageCall): (readonly [name: string, value: Html])[] {
  if (!call.offers(auditPage.path)) return [];
  return [["Changes", markup`<a href="${address(call.link(auditPage.path), { target })}">In the audit log</a>`]];
}

/** The choices of a filter, sorted by their words. */
const eventChoices = Object.entries(words)
  .map(([value, label]) => ({ value, label }))
  .toSorted((a, b) => a.label.localeCompare(b.label, "en"));

// What changed, in words: `Role: member → admin`.

type Changes = AuditView["changes"];

/** One line for each field. */
function changeLines(changes: Changes): Html | null {
  const all = Object.entries(changes);
  if (all.length === 0) return null;
  return markup`${all.map(([field, { from, to }], index) => markup`${index === 0 ? null : markup`<br />`}${fieldWords(field)}: ${change(field, { from, to })}`)}`;
}

/** As one line, for a file. */
function changeText(changes: Changes): string {
  return Object.entries(changes)
    .map(
      ([field, { from, to }]) =>
        `${fieldWords(field)}: ${from === null ? "" : `${wordsOf(field, from)} → `}${wordsOf(field, to)}`,
    )
    .join("; ");
}

/** Something new has no earlier value. */
function change(field: string, { from, to }: { from: unknown; to: unknown }): Html {
  if (from === null) return userText(wordsOf(field, to));
  return markup`${userText(wordsOf(field, from))} → ${userText(wordsOf(field, to))}`;
}

/** Roles and states are Weir's own words: `super_admin` → `super admin`. */
function wordsOf(field: string, value: unknown): string {
  const words = valueWords(value);
  return field === "role" || field === "status" ? words.replaceAll("_", " ") : words;
}

/** `monthly_spend_limit_usd` → `Monthly spend limit (USD)` */
function fieldWords(field: string): string {
  if (field === "usd") return "USD";
  if (field === "sbom_id") return "SBOM id";
  const spaced = field.replace(/_usd$/, " (USD)").replace(/_rpm$/, " (requests a minute)").replaceAll("_", " ");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

/** The log keeps longer values, which would break a table. */
const charactersMax = 200;

function valueWords(value: unknown): string {
  if (value === null || value === undefined || value === "") return "none";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(valueWords).join(", ");
  const text = typeof value === "string" ? value.replace(/^(-?\d+\.\d\d)0{1,7}$/, "$1") : JSON.stringify(value);
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}

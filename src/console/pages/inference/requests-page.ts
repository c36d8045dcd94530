/**
 * The requests of a workspace: all, answered, failed and refused, with filters in the address, and the newest rows as a file. Answered and
 * failed requests are rows of the log; refused ones are the newest of their own list. A filter that no index serves searches only the newest
 * requests; the page says how many it searched, and the next page continues from there.
 */
import { DomainError } from "../../../accounts/errors.ts";
import type { KeyView } from "../../../accounts/keys/schema.ts";
import { overseers } from "../../../accounts/audit/actor.ts";
import { keyEndpoints } from "../../../control-api/endpoints/keys.ts";
import { logEndpoints } from "../../../control-api/endpoints/log.ts";
import { refusalEndpoints } from "../../../control-api/endpoints/refusals.ts";
import { NamedEndpoint } from "../../../gateway/field-parts.ts";
import { csvColumns } from "../../../gateway/generation-fields.ts";
import { refusedKeptMax } from "../../../gateway/refusals/limits.ts";
import { RefusedEndpoint, RefusedView } from "../../../gateway/refusals/schema.ts";
import type { CsvFile } from "../../../http/csv-response.ts";
import { markup, type Html } from "../../../http/html.ts";
import { isoTime } from "../../../kernel/clock.ts";
import { endingCodes, refusingCodes } from "../../../kernel/errors.ts";
import { queryFields, type Page, type PageCall, type PageContent } from "../../page.ts";
import { address, filterForm, type Filter, type Choice } from "../../look/forms.ts";
import { arrangedList, arrangementIn } from "../../look/list-view.ts";
import { emptyState, cursorLinks, tabs } from "../../look/parts.ts";
import { refusedByCode } from "./refused-page.ts";
import { logChanges, refusedColumns, requestColumns, type RequestRow } from "./request-columns.ts";
import { readRequestRows, shownWords, type RequestFilters, type RequestRows, type ShownRequests } from "./request-rows.ts";
import { dayZone, keptZone, zoneOffer, zoneScript, dayStartOf } from "./day-zone.ts";

export const requestsPage: Page = {
  of: "workspace",
  path: "/requests",
  list: "requests",
  navigation: { section: "Inference", label: "Requests", icon: "requests" },
  reference: "control-inference",
  roles: ["member", "auditor", "admin", "super_admin"],
  scripts: [zoneScript],
  // Older pages of the list do not change.
  changes: async (call) => (call.query.has("before") ? null : logChanges(call)),
  render,
  csv,
};

const rowsOfPage = 50;
const rowsOfFile = 1_000;
/** A longer list cannot be scanned by eye; then a key's id is typed, and each key's page links to its requests. */
const keyChoicesMax = 200;

async function render(call: PageCall): Promise<PageContent> {
  const filters = requestFiltersOf(call);
  const shown = shownOf(filters);
  const { zone, problem } = dayZone(call);
  const before = call.query.get("before") ?? "";
  const fields = fieldsOf(call, zone);
  const [listed, { data: keys }, counts] = await Promise.all([
    readRequestRows(call, { shown, filters: fields, before, limit: rowsOfPage }),
    call.control(keyEndpoints.list, { limit: String(keyChoicesMax + 1) }),
    shown === "refused" && before === "" ? refusedByCode(call, fields) : null,
  ]);
  const isMember = call.workspace.role === "member";
  const columns = shown === "refused" ? refusedColumns : requestColumns;
  const list = arrangedList<RequestRow>(
    {
      caption: `${leads[shown]}, newest first`,
      columns: columns(call, { withMember: !isMember }),
      rows: listed.rows,
      empty: nothing(call, { filters, listed }),
      isWhole: false,
      order: "newest first",
    },
    call,
  );
  const arranged = arrangementIn(call.query);
  const { status, ...chosen } = filters;
  const form = {
    path: call.path,
    filters: filterFields(filters, { keys, role: call.workspace.role }),
    kept: { ...keptZone(call), ...arranged, ...(status !== "" && { status }) },
  };
  // Where there is nothing to filter, what to do next is all that is shown.
  const isBare = listed.rows.length === 0 && listed.next === null && before === "" && !isFiltered(chosen);
  return {
    title: "Requests",
    lead: leadOf(shown, isMember),
    actions: listed.rows.length === 0 ? null : markup`${fileLink(call, filters)}${list.view}`,
    main: markup`${problem}${views(call, { shown, chosen, arranged })}${counts}
      ${isBare ? null : markup`${filterForm(form)}${zoneOffer(call, zone)}`}
      ${list.table}
      ${pages(call, { filters, listed, before })}`,
  };
}

const leads: Record<ShownRequests, string> = {
  all: "Requests",
  answered: "Answered requests",
  failed: "Failed requests",
  refused: "Refused requests",
};

function leadOf(shown: ShownRequests, isMember: boolean): string {
  if (shown === "refused")
    return `The newest ${refusedKeptMax} calls of ${isMember ? "yours" : "this workspace"} that were refused: no provider was called, and nothing was charged. Texts of requests are not kept.`;
  const whose = isMember ? `Your ${leads[shown].toLowerCase()}` : `${leads[shown]} of this workspace`;
  return shown === "all" ? `${whose} that have ended or were refused, newest first.` : `${whose}, newest first.`;
}

interface Viewed {
  shown: ShownRequests;
  chosen: Omit<Filters, "status">;
  arranged: Record<string, string>;
}

function views(call: PageCall, { shown, chosen, arranged }: Viewed): Html {
  const labels: Record<ShownRequests, string> = { all: "All", answered: "Answered", failed: "Failed", refused: "Refused" };
  const view = (word: ShownRequests) => ({
    path: address(call.path, { ...chosen, ...arranged, code: word === "answered" ? "" : chosen.code, status: statuses[word] }),
    label: labels[word],
    count: null,
    current: word === shown,
  });
  return tabs("Requests by outcome", shownWords.map(view));
}

function fileLink(call: PageCall, filters: Filters): Html {
  const rows = shownOf(filters) === "refused" ? refusedKeptMax : rowsOfFile;
  const what = shownOf(filters) === "all" ? "accepted" : shownOf(filters);
  const file = address(call.path, { ...filters, as: "csv" });
  const most = `of the newest ${rows.toLocaleString("en-US")} ${what}`;
  return markup`<a class="button quiet" href="${file}" title="CSV ${most}">CSV<span class="unseen"> ${most}</span></a>`;
}

interface Listed {
  filters: Filters;
  listed: RequestRows;
}

function pages(call: PageCall, { filters, listed: { rows, next, searched }, before }: Listed & { before: string }): Html | null {
  const found = `${rows.length} ${rows.length === 1 ? "request" : "requests"}`;
  // No index covers the outcome, the endpoint, or the model of a key's requests, so only part of the log is read for them.
  const kept = { ...filters, ...arrangementIn(call.query) };
  const shown = searched === null ? found : `${found}, of ${searched.toLocaleString("en-US")} that were searched`;
  return cursorLinks({
    shown,
    firstPath: before === "" ? null : address(call.path, kept),
    nextPath: next === null ? null : address(call.path, { ...kept, before: next }),
  });
}

function nothing(call: PageCall, { filters, listed: { next, searched } }: Listed): Html {
  const { status, ...chosen } = filters;
  if (next !== null)
    return emptyState(
      `None of the ${(searched ?? 0).toLocaleString("en-US")} requests that were searched matches. There are older ones.`,
      null,
    );
  if (isFiltered(chosen))
    return emptyState(
      "No request matches these filters.",
      markup`<a class="button quiet" href="${address(call.path, { status })}">Show all</a>`,
    );
  if (shownOf(filters) === "refused") return emptyState("No call was refused here lately.", null);
  return emptyState(
    "No requests yet.",
    call.offers("/workbench")
      ? markup`<a class="button" href="${call.link("/workbench")}">Open the Workbench</a>`
      : markup`<a class="button quiet" href="${call.link("/keys")}">See the keys</a>`,
  );
}

// Files

async function csv(call: PageCall): Promise<CsvFile> {
  const filters = requestFiltersOf(call);
  const shown = shownOf(filters);
  const { provider, ...fields } = fieldsOf(call, dayZone(call).zone);
  if (shown === "refused") {
    const { data } = await call.control(refusalEndpoints.list, fields);
    const rows = data.map((row) => refusedCsv.map((column) => row[column]));
    return { name: `refused-requests-${call.workspace.name}`, columns: refusedCsv, rows };
  }
  const status = statusOf[shown];
  const { data } = await call.control(logEndpoints.list, {
    ...fields,
    ...(provider !== undefined && { provider }),
    ...(status && { status }),
    limit: String(rowsOfFile),
  });
  return {
    name: `requests-${call.workspace.name}`,
    columns: csvColumns,
    rows: data.map((row) => csvColumns.map((column) => cell(row[column] ?? null))),
  };
}

const statusOf: Partial<Record<ShownRequests, "ok" | "error">> = { answered: "ok", failed: "error" };

const refusedCsv = Object.keys(RefusedView.properties) as (keyof RefusedView)[];

function cell(value: string | number | boolean | null): string | number | null {
  return typeof value === "boolean" ? String(value) : value;
}

// The filters in the address of a page, and as fields of the control API.

const names = ["from", "to", "key", "member", "model", "provider", "endpoint", "status", "code", "tz"] as const;
type FilterName = (typeof names)[number];
type Filters = Record<FilterName, string>;

/** The words of each kind in the address, of which the log's endpoint has some. */
const statuses: Record<ShownRequests, string> = { all: "", answered: "ok", failed: "error", refused: "refused" };

export function requestFiltersOf({ query }: Pick<PageCall, "query">): Filters {
  const value = (name: FilterName): string => query.get(name)?.trim() ?? "";
  return {
    from: value("from"),
    to: value("to"),
    key: value("key"),
    member: value("member"),
    model: value("model"),
    provider: value("provider"),
    endpoint: value("endpoint"),
    code: value("code"),
    tz: value("tz"),
    status: value("status"),
  };
}

function shownOf({ status }: Pick<Filters, "status">): ShownRequests {
  return shownWords.find((word) => statuses[word] === status) ?? "all";
}

/** @param keys the active ones */
export function filterFields(
  filters: Filters,
  { keys, role }: { keys: readonly KeyView[]; role: PageCall["workspace"]["role"] },
): Filter[] {
  const isOverseer = role === "operator" || overseers.includes(role);
  const shown = shownOf(filters);
  const codes = choicesOf(codesOf[shown]);
  const endpoints = choicesOf(wordsOf(shown === "all" || shown === "refused" ? RefusedEndpoint : NamedEndpoint));
  return [
    { name: "from", label: "From day", kind: "date", value: filters.from },
    { name: "to", label: "To day", kind: "date", value: filters.to },
    keyFilter(filters.key, keys),
    ...(isOverseer
      ? [
          {
            name: "member",
            label: "Member (address)",
            kind: "text",
            value: filters.member,
            charactersMax: 254,
            isFurther: true,
          } as const,
        ]
      : []),
    { name: "model", label: "Model (id)", kind: "text", value: filters.model },
    ...(shown === "refused"
      ? []
      : [{ name: "provider", label: "Provider (id)", kind: "text", value: filters.provider, isFurther: true } as const]),
    {
      name: "endpoint",
      label: "Endpoint",
      kind: "choice",
      choices: known(endpoints, filters.endpoint),
      value: filters.endpoint,
      isFurther: true,
    },
    ...(codes.length === 1
      ? []
      : [{ name: "code", label: "Code", kind: "choice", choices: known(codes, filters.code), value: filters.code } as const]),
  ];
}

/** What requests of each kind may end with. */
const codesOf: Record<ShownRequests, readonly string[]> = {
  all: [...new Set<string>([...endingCodes, ...refusingCodes])].toSorted(),
  answered: [],
  failed: endingCodes,
  refused: refusingCodes,
};

function wordsOf(schema: { anyOf: readonly { const: string }[] }): string[] {
  return schema.anyOf.map((one) => one.const);
}

function choicesOf(words: readonly string[]): Choice[] {
  return ["", ...words].map((value) => ({ value, label: value || "Any" }));
}

function isFiltered({ tz: _zone, ...filters }: Omit<Filters, "status">): boolean {
  return Object.values(filters).some((value) => value !== "");
}

/** @throws DomainError invalid_field for a text that is not a day */
function fieldsOf({ query }: Pick<PageCall, "query">, zone: string): RequestFilters {
  const { from = "", to = "", tz: _zone, status, code, ...others } = queryFields(query, names);
  return {
    ...others,
    ...(code !== undefined && shownOf({ status: status ?? "" }) !== "answered" && { code }),
    ...(from !== "" && { from: isoTime(startOf({ field: "from", date: from, zone })) }),
    // The last day is shown too.
    ...(to !== "" && { to: isoTime(startOf({ field: "to", date: to, zone, days: 1 })) }),
  };
}

function startOf({ field, date, zone, days = 0 }: { field: string; date: string; zone: string; days?: number }): number {
  const ms = /^[12]\d{3}-\d{2}-\d{2}$/.test(date) && date >= "1970-01-03" ? dayStartOf(date, { zone, days }) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new DomainError("invalid_field", `"${date.slice(0, 40)}" is not a day: enter one such as 2026-11-20`, {
    field,
  });
}

function keyFilter(value: string, keys: readonly KeyView[]): Filter {
  const inference = keys.filter(({ kind }) => kind === "inference");
  if (keys.length > keyChoicesMax) return { name: "key", label: "Key (id)", kind: "text", value };
  const choices = [
    { value: "", label: "Any" },
    ...inference.map(({ id, name, masked }) => ({ value: id, label: `${name} (${masked})` })),
  ];
  return { name: "key", label: "Key", kind: "choice", choices: known(choices, value), value };
}

/** A value that the list lacks, such as a revoked key, stays chosen. */
function known(choices: Choice[], value: string): Choice[] {
  return choices.some((choice) => choice.value === value) ? choices : [...choices, { value, label: value }];
}

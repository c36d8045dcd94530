/**
 * The request log of a workspace, with filters in the address, and its newest rows as a file. A filter that no index serves searches only
 * the newest requests; the page says how many it searched, and the next page continues from there.
 */
import { DomainError } from "../../../accounts/errors.ts";
import type { KeyView } from "../../../accounts/keys/schema.ts";
import { overseers } from "../../../accounts/audit/actor.ts";
import type { GivenTo } from "../../../control-api/endpoint.ts";
import { keyEndpoints } from "../../../control-api/endpoints/keys.ts";
import { logEndpoints } from "../../../control-api/endpoints/log.ts";
import { NamedEndpoint } from "../../../gateway/field-parts.ts";
import { csvColumns } from "../../../gateway/generation-fields.ts";
import type { GenerationView, LogView } from "../../../gateway/generations/schema.ts";
import type { CsvFile } from "../../../http/csv-response.ts";
import { markup, type Html } from "../../../http/html.ts";
import { isoTime } from "../../../kernel/clock.ts";
import { endingCodes } from "../../../kernel/errors.ts";
import { queryFields, type Page, type PageCall, type PageContent } from "../../page.ts";
import { address, filterForm, type Filter, type Choice } from "../../look/forms.ts";
import { emptyState, cursorLinks, table } from "../../look/parts.ts";
import { requestColumns } from "./request-columns.ts";
import { dayZone, keptZone, zoneOffer, zoneScript, dayStartOf } from "./day-zone.ts";

export const requestsPage: Page = {
  of: "workspace",
  path: "/requests",
  navigation: { section: "Inference", label: "Requests", icon: "requests" },
  roles: ["member", "auditor", "admin", "super_admin"],
  scripts: [zoneScript],
  render,
  csv,
};

const rowsOfPage = 50;
const rowsOfFile = 1_000;
/** More keys would make the choice useless; each key's page links to its requests. */
const choicesMax = 200;

async function render(call: PageCall): Promise<PageContent> {
  const filters = requestFiltersOf(call);
  const { zone, problem } = dayZone(call);
  const before = call.query.get("before") ?? "";
  const page = { ...fieldsOf(call, zone), limit: String(rowsOfPage), ...(before !== "" && { before }) };
  const [log, { data: keys }] = await Promise.all([
    call.control(logEndpoints.list, page),
    call.control(keyEndpoints.list, { limit: String(choicesMax) }),
  ]);
  const isMember = call.workspace.role === "member";
  const file = address(call.path, { ...filters, as: "csv" });
  return {
    title: "Requests",
    lead: `${isMember ? "Your requests" : "All requests of this workspace"} that have ended, newest first. A request that was refused, such as with 402 or 429, is not listed: nothing was sent to a provider.`,
    actions:
      log.data.length === 0
        ? null
        : markup`<a class="button quiet" href="${file}">CSV of the newest ${rowsOfFile.toLocaleString("en-US")}</a>`,
    main: markup`${problem}${filterForm({ path: call.path, filters: filterFields(filters, { keys, role: call.workspace.role }), kept: keptZone(call) })}
      ${zoneOffer(call, zone)}
      ${table<GenerationView>({
        caption: "Requests, newest first",
        columns: requestColumns(call, { withMember: !isMember }),
        rows: log.data,
        empty: nothing(call, { filters, log }),
      })}
      ${pages(call, { filters, log, before })}`,
  };
}

interface Listed {
  filters: Filters;
  log: LogView;
}

function pages(call: PageCall, { filters, log: { data, next, searched }, before }: Listed & { before: string }): Html | null {
  const found = `${data.length} ${data.length === 1 ? "request" : "requests"}`;
  // No index covers the outcome, the endpoint, or the model of a key's requests, so only part of the log is read for them.
  const shown = searched === null ? found : `${found}, of ${searched.toLocaleString("en-US")} that were searched`;
  return cursorLinks({
    shown,
    firstPath: before === "" ? null : address(call.path, filters),
    nextPath: next === null ? null : address(call.path, { ...filters, before: next }),
  });
}

function nothing(call: PageCall, { filters, log: { next, searched } }: Listed): Html {
  if (next !== null)
    return emptyState(
      `None of the ${(searched ?? 0).toLocaleString("en-US")} requests that were searched matches. There are older ones.`,
      null,
    );
  if (isFiltered(filters))
    return emptyState("No request matches these filters.", markup`<a class="button quiet" href="${call.path}">Show all</a>`);
  return emptyState(
    "No requests yet.",
    call.offers("/workbench")
      ? markup`<a class="button" href="${call.link("/workbench")}">Open the Workbench</a>`
      : markup`<a class="button quiet" href="${call.link("/keys")}">See the keys</a>`,
  );
}

async function csv(call: PageCall): Promise<CsvFile> {
  const fields = fieldsOf(call, dayZone(call).zone);
  const { data } = await call.control(logEndpoints.list, { ...fields, limit: String(rowsOfFile) });
  return {
    name: `requests-${call.workspace.name}`,
    columns: csvColumns,
    rows: data.map((row) => csvColumns.map((column) => cell(row[column] ?? null))),
  };
}

function cell(value: string | number | boolean | null): string | number | null {
  return typeof value === "boolean" ? String(value) : value;
}

// The filters of the log in the address of a page, and as fields of the control API.

const names = ["from", "to", "key", "member", "model", "endpoint", "status", "code", "tz"] as const;
type FilterName = (typeof names)[number];
type Filters = Record<FilterName, string>;

export function requestFiltersOf({ query }: Pick<PageCall, "query">): Filters {
  const value = (name: FilterName): string => query.get(name)?.trim() ?? "";
  return {
    from: value("from"),
    to: value("to"),
    key: value("key"),
    member: value("member"),
    model: value("model"),
    endpoint: value("endpoint"),
    status: value("status"),
    code: value("code"),
    tz: value("tz"),
  };
}

/** @param keys the active ones */
export function filterFields(
  filters: Filters,
  { keys, role }: { keys: readonly KeyView[]; role: PageCall["workspace"]["role"] },
): Filter[] {
  const isOverseer = role === "operator" || overseers.includes(role);
  return [
    { name: "from", label: "From day", kind: "date", value: filters.from },
    { name: "to", label: "To day", kind: "date", value: filters.to },
    keyFilter(filters.key, keys),
    ...(isOverseer
      ? [{ name: "member", label: "Member (address)", kind: "text", value: filters.member, charactersMax: 254 } as const]
      : []),
    { name: "model", label: "Model (id)", kind: "text", value: filters.model },
    { name: "endpoint", label: "Endpoint", kind: "choice", choices: endpoints, value: filters.endpoint },
    { name: "status", label: "Status", kind: "choice", choices: outcomes, value: filters.status },
    { name: "code", label: "Code", kind: "choice", choices: known(codes, filters.code), value: filters.code },
  ];
}

function isFiltered({ tz: _zone, ...filters }: Filters): boolean {
  return Object.values(filters).some((value) => value !== "");
}

/** @throws DomainError invalid_field for a text that is not a day */
function fieldsOf({ query }: Pick<PageCall, "query">, zone: string): GivenTo<typeof logEndpoints.list> {
  const { from = "", to = "", tz: _zone, ...others } = queryFields(query, names);
  return {
    ...others,
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

const endpoints: Choice[] = ["", ...NamedEndpoint.anyOf.map((one) => one.const)].map((value) => ({
  value,
  label: value || "Any",
}));

const outcomes: Choice[] = [
  { value: "", label: "Any" },
  { value: "ok", label: "Answered" },
  { value: "error", label: "Failed" },
];

/** Refused requests are not in the log, so their codes would find nothing. */
const codes: Choice[] = ["", ...endingCodes].map((value) => ({ value, label: value || "Any" }));

/** A longer list cannot be scanned by eye. */
const keyChoicesMax = 200;

function keyFilter(value: string, keys: readonly KeyView[]): Filter {
  const inference = keys.filter(({ kind }) => kind === "inference");
  if (inference.length > keyChoicesMax) return { name: "key", label: "Key (id)", kind: "text", value };
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

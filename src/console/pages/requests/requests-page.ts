/** The request log of a workspace, with filters, and as a file. */
import type { KeyView } from "../../../accounts/keys/schema.ts";
import type { GenerationView, LogView } from "../../../gateway/generations/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { dayZone, zoneOffer, zoneScript } from "../spend/day-zone.ts";
import { cursorLinks } from "../../look/cursor-links.ts";
import { address } from "../../look/forms/address.ts";
import { filterForm } from "../../look/forms/filter-form.ts";
import { emptyState } from "../../look/states.ts";
import { table } from "../../look/table.ts";
import type { CsvFile, Page, PageCall, PageContent } from "../../page.ts";
import { requestColumns } from "./request-columns.ts";
import { fieldsOf, filterFields, filtersOf, isFiltered, type Filters } from "./request-filters.ts";

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
/** More keys would make the choice useless; the page of each key leads to its requests. */
const choicesMax = 200;

async function render(call: PageCall): Promise<PageContent> {
  const filters = filtersOf(call);
  const { zone, problem } = dayZone(call);
  const before = call.query.get("before") ?? "";
  const page = { ...fieldsOf(filters, zone), limit: String(rowsOfPage), ...(before !== "" && { before }) };
  const [log, { data: keys }] = await Promise.all([
    call.control<LogView>("GET", "/log", page),
    call.control<{ data: KeyView[] }>("GET", "/keys", { limit: String(choicesMax) }),
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
    main: markup`${problem}${filterForm({ path: call.path, filters: filterFields(filters, { keys, role: call.workspace.role }) })}
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
  // No index has the outcome, nor the model of a key's requests, so that only a part of the log is read for them.
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
      `None of the ${(searched ?? 0).toLocaleString("en-US")} requests that were searched fits. There are older ones.`,
      null,
    );
  if (isFiltered(filters))
    return emptyState("No request fits these filters.", markup`<a class="button quiet" href="${call.path}">Show all</a>`);
  return emptyState(
    "No request has ended here yet.",
    call.offers("/workbench")
      ? markup`<a class="button" href="${call.link("/workbench")}">Open the Workbench</a>`
      : markup`<a class="button quiet" href="${call.link("/keys")}">See the keys</a>`,
  );
}

async function csv(call: PageCall): Promise<CsvFile> {
  const fields = fieldsOf(filtersOf(call), dayZone(call).zone);
  const { data } = await call.control<LogView>("GET", "/log", { ...fields, limit: String(rowsOfFile) });
  return {
    name: `requests-${call.workspace.name}`,
    columns: fileColumns,
    rows: data.map((row) => fileColumns.map((column) => cell(row[column]))),
  };
}

const fileColumns = [
  "at",
  "generation_id",
  "request_id",
  "key_id",
  "key_name",
  "member",
  "endpoint",
  "model",
  "provider",
  "status",
  "code",
  "streamed",
  "prompt_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "completion_tokens",
  "reasoning_tokens",
  "cost_usd",
  "own_key",
  "list_cost_usd",
  "first_token_ms",
  "duration_ms",
] as const;

function cell(value: string | number | boolean | null): string | number | null {
  return typeof value === "boolean" ? String(value) : value;
}

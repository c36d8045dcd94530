/** The filters of the log in the address of a page, and as fields of the control API. */
import { overseers } from "../../../accounts/workspaces/authorize.ts";
import { DomainError } from "../../../accounts/errors.ts";
import type { KeyView } from "../../../accounts/keys/schema.ts";
import { endingCodes } from "../../../kernel/errors.ts";
import { isoTime } from "../../../kernel/clock.ts";
import { dayStartOf } from "../spend/day-zone.ts";
import type { Filter } from "../../look/forms/filter-form.ts";
import type { Choice } from "../../look/forms/field.ts";
import type { PageCall } from "../../page.ts";

const names = ["from", "to", "key", "member", "model", "status", "code", "tz"] as const;
type FilterName = (typeof names)[number];
export type Filters = Record<FilterName, string>;

export function filtersOf({ query }: Pick<PageCall, "query">): Filters {
  const value = (name: FilterName): string => query.get(name)?.trim() ?? "";
  return {
    from: value("from"),
    to: value("to"),
    key: value("key"),
    member: value("member"),
    model: value("model"),
    status: value("status"),
    code: value("code"),
    tz: value("tz"),
  };
}

export function isFiltered({ tz: _zone, ...filters }: Filters): boolean {
  return Object.values(filters).some((value) => value !== "");
}

/** @throws DomainError invalid_field for a day that is none */
export function fieldsOf({ from, to, tz: _zone, ...others }: Filters, zone: string): Record<string, string> {
  const set = Object.entries(others).filter(([, value]) => value !== "");
  return {
    ...Object.fromEntries(set),
    ...(from !== "" && { from: isoTime(startOf({ field: "from", date: from, zone })) }),
    // The last day is shown too.
    ...(to !== "" && { to: isoTime(startOf({ field: "to", date: to, zone, days: 1 })) }),
  };
}

function startOf({ field, date, zone, days = 0 }: { field: string; date: string; zone: string; days?: number }): number {
  const ms = /^[12]\d{3}-\d{2}-\d{2}$/.test(date) && date >= "1970-01-03" ? dayStartOf(date, { zone, days }) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new DomainError("invalid_field", `Cannot take "${date.slice(0, 40)}" as a day: one such as 2026-11-20 is needed`, {
    field,
  });
}

const outcomes: Choice[] = [
  { value: "", label: "Any" },
  { value: "ok", label: "Answered" },
  { value: "error", label: "Failed" },
];

/** Refused requests are not in the log, so that their codes would find nothing. */
const codes: Choice[] = ["", ...endingCodes].map((value) => ({ value, label: value || "Any" }));

/** More make a list that nobody searches. */
const keyChoicesMax = 200;

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
    { name: "status", label: "Status", kind: "choice", choices: outcomes, value: filters.status },
    { name: "code", label: "Code", kind: "choice", choices: known(codes, filters.code), value: filters.code },
    { name: "tz", label: "Time zone (empty: UTC)", kind: "text", value: filters.tz, charactersMax: 64 },
  ];
}

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

/** The filters of the list of findings, in its address. */
import type { Filter } from "../../look/forms/filter-form.ts";
import { ecosystemFilter } from "../security/ecosystem.ts";
import { severityFilter } from "../security/severity.ts";
import { statusFilter } from "./status.ts";

const names = ["text", "severity", "status", "ecosystem", "fixable", "project", "product", "vulnerability"] as const;

/** The filters that are set. */
export function queryOf(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name): [string, string][] => {
      const value = (query.get(name) ?? "").trim();
      return value === "" ? [] : [[name, value]];
    }),
  );
}

/** What the control API gets. */
export function inputOf(query: URLSearchParams): Record<string, string> {
  const { status = "live", ...set } = queryOf(query);
  const after = query.get("after") ?? "";
  return { ...set, ...(status !== "all" && { status }), ...(after !== "" && { after }) };
}

export function filtersOf(query: URLSearchParams): Filter[] {
  const value = (name: (typeof names)[number]): string => (query.get(name) ?? "").trim();
  const named = (name: "product" | "vulnerability", label: string): Filter[] =>
    value(name) === "" ? [] : [{ name, label, kind: "text", value: value(name) }];
  const fixable = [
    { value: "", label: "Either" },
    { value: "true", label: "With a fix" },
    { value: "false", label: "Without a fix" },
  ];
  return [
    { name: "text", label: "Id or component", kind: "text", value: value("text") },
    severityFilter(value("severity")),
    statusFilter(value("status")),
    ecosystemFilter(value("ecosystem")),
    { name: "fixable", label: "Fix", kind: "choice", value: value("fixable"), choices: fixable },
    { name: "project", label: "Project", kind: "text", value: value("project") },
    ...named("product", "Product"),
    ...named("vulnerability", "Vulnerability"),
  ];
}

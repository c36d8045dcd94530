/**
 * What the terminal adds to the verbs that endpoints describe: the columns of tables, texts instead of tables, files in and out, ages as
 * times, and verbs of several calls. All else comes from the endpoint. Code is loaded when its verb runs, so that others start quickly.
 */
import { ageOrDate, oneOf, text, timeOrAge, yes, type Value } from "./value.ts";
import type { Addition, Flag } from "./verb.ts";

const file: Value = { ...text, placeholder: "FILE" };

const reportFlags: readonly Flag[] = [
  { name: "format", field: "format", value: oneOf("csv", "sarif"), help: "the whole list as CSV or as SARIF 2.1.0" },
  { name: "output", field: "output", value: file, help: "the file for --format; default: standard output" },
  {
    name: "location",
    field: "location",
    value: { ...text, placeholder: "PATH" },
    help: "for SARIF: the file of the repository where GitHub shows findings, such as package-lock.json",
  },
];

/** What `--fail-on` takes. */
export const failWords = ["critical", "high", "medium", "low", "any"] as const;

const gateFlags: readonly Flag[] = [
  { name: "wait", field: "wait", value: yes, help: "wait until the project is scanned, and print its vulnerabilities" },
  {
    name: "fail-on",
    field: "fail_on",
    value: oneOf(...failWords),
    help: "exit with 3 if the project has an open vulnerability of this severity or above, with 4 if it cannot be compared; waits for the scan",
  },
  ...reportFlags,
];

const since: Flag = {
  name: "since",
  field: "from",
  value: ageOrDate,
  help: "the same as --from, also as a date or an age such as 30m, 24h or 7d",
};

const exploitSource: Value = { ...text, placeholder: "FILE|URL" };
const modelColumns = ["id", "name", "provider", "context_length", "availability", "runnable", "unavailable_reason"];

const usageTimes: readonly Flag[] = [
  { name: "since", field: "from", value: timeOrAge, help: "a date, a time, or an age such as 24h or 7d; default: 30 days" },
  { name: "until", field: "to", value: timeOrAge, help: "a date, a time or an age; default: now" },
];
/** A table with these columns, separated by spaces, whose texts come from documents. */
const named =
  (fields: string): NonNullable<Addition["show"]> =>
  async (body) =>
    (await import("./print-findings.ts")).printNamed(body, fields.split(" "));

/** By noun and verb. */
export const additions: Readonly<Record<string, Addition>> = {
  "workspace list": {
    columns: ["id", "name", "enabled", "balance_usd", "reserved_usd", "month_spent_usd", "spend_limit_usd"],
  },
  "member list": { columns: ["email", "role", "state"] },
  "key list": {
    columns: "id name kind masked owner monthly_spend_limit_usd rate_limit_rpm month_spent_usd revoked_at".split(" "),
  },
  "top-up create": { columns: ["id", "state", "amount_usd", "url"] },
  "top-up list": {
    columns: ["id", "kind", "state", "amount_usd", "received_usd", "refunded_usd", "disputed_usd", "failure", "created_at"],
  },
  "model list": { columns: modelColumns },
  "model check": {
    columns: modelColumns,
    progress: ({ model, provider, code }) =>
      `${String(model)} by ${String(provider)}: ${code === null ? "passed" : String(code)}`,
  },
  "log list": {
    flags: [since],
    show: async (body) => (await import("./verbs/usage.ts")).printLog(body),
  },
  "refusal list": {
    flags: [since],
    columns: ["at", "status", "code", "endpoint", "model", "key_name", "member", "message"],
  },
  "refusal count": { flags: [since], columns: ["starts_at", "key_name", "member", "code", "calls"] },
  "log retain": {
    progress: ({ month, generations, bytes }) => `${String(month)}: ${String(generations)} generations, ${String(bytes)} bytes`,
  },
  usage: {
    flags: usageTimes,
    show: async (body) => (await import("./verbs/usage.ts")).printUsage(body),
  },
  "chart show": { flags: usageTimes, show: async (body) => (await import("./verbs/usage.ts")).printChart(body) },
  "statement list": {
    columns: ["number", "closed", "opening_balance_usd", "credits_usd", "refunds_usd", "charges_usd", "closing_balance_usd"],
  },
  "statement show": { show: async (body) => (await import("./verbs/usage.ts")).printStatement(body) },
  "alert rules": { columns: ["id", "kind", "percents", "balance_usd", "armed", "mail", "webhooks"] },
  "alert list": { columns: ["created_at", "id", "kind", "text", "mails"] },
  "alert test": { show: ({ deliveries }) => (Array.isArray(deliveries) ? deliveries : []).map(deliveryLine).join("\n") },
  "audit list": { columns: ["id", "at", "event", "actor", "role", "carried_by", "target", "changes"] },
  "ledger verify": {
    summary: "Check all stored amounts in one snapshot; exit code 1 when they contradict each other",
    columns: ["ok", "broken"],
    progress: ({ invariant, rows }) => `${String(invariant)}: ${String(rows)} rows`,
  },
  status: {
    summary: "Show what runs, in which version and on which schema, and what waits for the ledger; exits 1 if there is a problem",
    show: async (body) => (await import("./verbs/service.ts")).printStatus(body),
  },
  "provider list": { columns: ["id", "name", "state", "models", "callable", "key", "masked", "problem"] },
  "provider-key list": { columns: ["id", "provider", "name", "masked", "state", "zero_data_retention", "last_used_at"] },
  "connection people": {
    flags: [
      { name: "format", field: "format", value: oneOf("csv", "ndjson"), help: "all people as CSV or as lines of JSON" },
      { name: "output", field: "output", value: file, help: "the file for --format; default: standard output" },
    ],
    send: async (fields, sending) => (await import("./verbs/connection.ts")).listPeople(fields, sending),
  },
  "advisories list": { show: async (body) => (await import("./print-findings.ts")).printAges(body) },
  "advisories count": { columns: ["ecosystem", "records", "projects"] },
  "advisories import": {
    summary: "Import OSV records; skips those that are stored already, reports bad ones and continues",
    operand: {
      field: "path",
      placeholder: "PATH",
      help: "JSON, NDJSON, YAML, zip, tar, tar.gz, or a folder of these; - reads standard input",
    },
    flags: [
      {
        name: "after",
        field: "after",
        value: { ...text, placeholder: "CURSOR" },
        help: "continue after this place, which an interrupted import printed",
      },
    ],
    send: async (fields, sending) => (await import("./verbs/advisories.ts")).importAdvisories(fields, sending),
  },
  "sbom upload": {
    operand: {
      field: "path",
      placeholder: "PATH",
      help: "the document: CycloneDX 1.2 to 1.7, SPDX 2.2, 2.3 or 3.0; - reads it from standard input",
    },
    flags: gateFlags,
    send: async (fields, sending) => (await import("./verbs/upload.ts")).uploadSbom(fields, sending),
  },
  "repository import": {
    summary: "Make the lock files of a repository the current SBOM of a project; only a folder's lock files are sent",
    operand: {
      field: "source",
      placeholder: "PATH|URL",
      help: "a checkout or another folder, an archive (zip, tar, tar.gz), or an address at GitHub or GitLab",
    },
    flags: gateFlags,
    uploads: "/repositories/archive",
    send: async (fields, sending) => (await import("./verbs/upload.ts")).importRepository(fields, sending),
  },
  "product list": { columns: ["id", "name", "projects_count", "sboms_count", "posture"] },
  "project list": { send: async (fields, sending) => (await import("./verbs/finding.ts")).listProjects(fields, sending) },
  "finding list": {
    flags: reportFlags,
    send: async (fields, sending) => (await import("./verbs/finding.ts")).listFindings(fields, sending),
  },
  "finding urgent": {
    summary: "List open findings, those in CISA's catalog first, then by EPSS; `advisories sync` gets both",
    show: async (body) => (await import("./print-findings.ts")).printUrgent(body),
  },
  "finding show": { show: async (body) => (await import("./print-findings.ts")).printFinding(body) },
  "finding groups": { show: named("component cve_id severity findings fixable projects known_exploited_since epss") },
  "project components": { show: named("name version ecosystem licenses relation vulnerabilities") },
  "project fixes": { show: named("component version severity fix_version step open_findings relation") },
  "component list": { show: named("project component version ecosystem relation open_findings sbom_uploaded_at") },
  "project sboms": { show: named("id filename format components uploaded_by uploaded_at current") },
  "project difference": { show: named("component ecosystem before after") },
  "project activity": { show: named("at actor what findings cve_id component filename") },
  "vex export": {
    summary: "Write the findings of a project and what was decided as a VEX document",
    flags: [{ name: "output", field: "output", value: file, help: "the file; default: standard output" }],
    send: async (fields, sending) => (await import("./verbs/upload.ts")).exportVex(fields, sending),
  },
  "vex import": {
    operand: { field: "path", placeholder: "PATH", help: "the document in JSON; - reads it from standard input" },
    send: async (fields, sending) => (await import("./verbs/upload.ts")).importVex(fields, sending),
  },
  "exploits import": {
    summary: "Import EPSS scores and CISA's catalog of known exploited vulnerabilities, which `finding urgent` ranks by",
    flags: [
      { name: "epss", field: "epss", value: exploitSource, help: "EPSS scores: a CSV file, also gzipped, or its address" },
      { name: "kev", field: "kev", value: exploitSource, help: "CISA's catalog: a JSON file, also gzipped, or its address" },
    ],
    send: async (fields, sending) => (await import("./verbs/exploits.ts")).importExploits(fields, sending),
  },
  "vulnerability list": {
    columns: "cve_id severity cvss_score affected_component fix_version affected_projects_count affected_components_count".split(
      " ",
    ),
  },
  "vulnerability show": { show: async (body) => (await import("./print-findings.ts")).printVulnerability(body) },
  "ticket list": { columns: ["reference", "type", "status", "subject", "owner", "created_at"] },
};

function deliveryLine({ state, status, failure }: Record<string, unknown>): string {
  const answer = typeof status === "number" ? `it answered ${status}` : `the failure is ${String(failure)}`;
  return state === "delivered" ? `delivered: ${answer}` : `not delivered: ${answer}`;
}

import type { ScanTotals } from "../../../src/control-api/endpoints/projects.ts";
import { findingTable, printFinding, printUrgent } from "../print-findings.ts";
import { pageFrom, readReport, reportFindings, reportFlags } from "../report.ts";
import type { Notes } from "../sarif.ts";
import { UsageError, id, list, oneOf, onOff, rows, text } from "../value.ts";
import { ofWorkspace, withId, type LocalAnswer, type Sending, type Verb } from "../verb.ts";

export const findingVerbs: readonly Verb[] = [
  {
    noun: "finding",
    verb: "list",
    summary: "Search findings, the most severe first",
    reads: "/findings",
    flags: [
      ofWorkspace,
      { name: "project", field: "project", value: text, help: "only those of this project, by id or exact name" },
      { name: "product", field: "product", value: text, help: "only those of this product, by id or exact name" },
      { name: "vulnerability", field: "vulnerability", value: id, help: "only those of this vulnerability, by any of its ids" },
      {
        name: "severity",
        field: "severity",
        value: oneOf("critical", "high", "medium", "low"),
        help: "only those of this severity",
      },
      {
        name: "status",
        field: "status",
        value: oneOf("live", "open", "in_progress", "resolved", "ignored", "false_positive"),
        help: "only those of this status; live: open or in progress, and no false positive",
      },
      {
        name: "ecosystem",
        field: "ecosystem",
        value: oneOf("npm", "pypi", "maven", "go", "cargo", "rubygems", "nuget"),
        help: "only components of this ecosystem",
      },
      {
        name: "fixable",
        field: "fixable",
        value: oneOf("true", "false"),
        help: "only those with, or without, a version to upgrade to",
      },
      { name: "text", field: "text", value: text, help: "an id, or a part of a component's name" },
      { name: "limit", field: "limit", value: rows, help: "how many, 1 to 200; default 50" },
      { name: "after", field: "after", value: id, help: "only those after this finding: `next` of the page before" },
      ...reportFlags,
    ],
    send: listFindings,
  },
  {
    noun: "finding",
    verb: "urgent",
    summary: "List open findings, those in CISA's catalog first, then by EPSS; `exploits import` gets both",
    method: "GET",
    path: "/urgent-findings",
    flags: [
      ofWorkspace,
      { name: "project", field: "project", value: text, help: "only those of this project, by id or exact name" },
      { name: "product", field: "product", value: text, help: "only those of this product, by id or exact name" },
      { name: "limit", field: "limit", value: rows, help: "how many, 1 to 200; default 50" },
    ],
    show: printUrgent,
  },
  {
    noun: "finding",
    verb: "show",
    summary: "Show a finding: why it matches, what was decided, and the version to upgrade to",
    method: "GET",
    path: "/findings/:id",
    flags: [withId("id of the finding"), ofWorkspace],
    show: printFinding,
  },
  {
    noun: "finding",
    verb: "set",
    summary: "Triage findings: one decision about all of them, or about none",
    method: "PATCH",
    path: "/findings",
    flags: [
      ofWorkspace,
      { name: "id", field: "findings", value: list, required: true, help: "ids of findings, separated by commas; at most 200" },
      { name: "status", field: "status", value: oneOf("open", "in_progress", "resolved", "ignored"), help: "the new status" },
      { name: "false-positive", field: "false_positive", value: onOff, help: "on: the matches are wrong" },
      { name: "note", field: "note", value: text, help: 'the reason; "" removes it' },
    ],
  },
  {
    noun: "finding",
    verb: "events",
    summary: "List what scans and people changed of a finding, newest first",
    method: "GET",
    path: "/findings/:id/events",
    flags: [
      withId("id of the finding"),
      ofWorkspace,
      { name: "limit", field: "limit", value: rows, help: "how many, 1 to 200; default 25" },
      { name: "offset", field: "offset", value: rows, help: "how many to skip" },
    ],
  },
];

async function listFindings(fields: Record<string, unknown>, { get }: Sending): Promise<LocalAnswer> {
  const { report, rest: query } = readReport(fields);
  const { format, output, location } = report;
  const scope = Object.fromEntries(Object.entries(query).filter(([name]) => ["workspace", "project", "product"].includes(name)));
  const blind = async () => blindProjects(await get("/scans", scope));
  if (format !== null) {
    if ("limit" in query || "after" in query) throw new UsageError("--format has the whole list: leave out --limit and --after");
    // SARIF is a list of what is wrong now.
    const filters = format === "sarif" ? { status: "live", ...query } : query;
    const locationOf = ({ project }: { project: string }) => location ?? project;
    const { left, isComplete } = await blind();
    const notes = { isComplete, left };
    const answer = await reportFindings({ format, output, locationOf, query: filters, notes }, get);
    return { ...answer, errors: [...answer.errors, ...left] };
  }
  const body = await get("/findings", query);
  const { data, total, next } = pageFrom(body);
  const more = next === null ? "" : `; --after ${next} lists the next ones`;
  const count = total === null ? `${data.length} shown` : `${data.length} of ${total}`;
  return { body, text: `${findingTable(data)}\n\n${count}${more}`, errors: data.length === 0 ? [...(await blind()).left] : [] };
}

/** What the list says nothing of. The control API's document states that its answer has these fields. */
function blindProjects(answer: Record<string, unknown>): Notes {
  const { scanned, not_comparable: blind } = answer as unknown as ScanTotals;
  if (blind === 0) return { isComplete: true, left: [] };
  const subject = scanned === 1 ? "The scanned project" : `${blind} of ${scanned} scanned projects`;
  const words = `${subject} cannot be compared: there are no advisories for ${scanned === 1 ? "its" : "their"} components`;
  return { isComplete: blind < scanned, left: [words] };
}

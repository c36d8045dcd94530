import { ofWorkspace, withId } from "../../flags.ts";
import { id, list, oneOf, onOff, rows, text } from "../../value.ts";
import type { Verb } from "../../verb.ts";

export const findingVerbs: readonly Verb[] = [
  {
    noun: "finding",
    verb: "list",
    summary: "Search findings, the most severe first",
    method: "GET",
    path: "/findings",
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
    ],
    columns: ["id", "severity", "cve_id", "component", "component_version", "fix_version", "status", "project"],
  },
  {
    noun: "finding",
    verb: "show",
    summary: "Show a finding: why it matches, what was decided, and the version to upgrade to",
    method: "GET",
    path: "/findings/:id",
    flags: [withId("id of the finding"), ofWorkspace],
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

/** States of findings in words. */
import { markup, type Html } from "../../../http/html.ts";
import type { FindingStatus } from "../../../security/findings/schema.ts";
import { badge, type Tone } from "../../look/badge.ts";
import type { Choice } from "../../look/forms/field.ts";
import type { Filter } from "../../look/forms/filter-form.ts";

const states: Record<FindingStatus, { tone: Tone; word: string }> = {
  open: { tone: "warn", word: "open" },
  in_progress: { tone: "neutral", word: "in progress" },
  ignored: { tone: "neutral", word: "ignored" },
  resolved: { tone: "good", word: "resolved" },
};

export const statusChoices: readonly Choice[] = [
  { value: "open", label: "Open" },
  { value: "in_progress", label: "In progress" },
  { value: "ignored", label: "Ignored: the risk is accepted" },
  { value: "resolved", label: "Resolved" },
];

export function statusBadge({ status, false_positive: wrong }: { status: FindingStatus; false_positive: boolean }): Html {
  const { tone, word } = states[status];
  return markup`${badge(wrong ? "neutral" : tone, word)}${wrong ? markup` ${badge("neutral", "false positive")}` : null}`;
}

/** Without a choice the list has what is left to do. */
export function statusFilter(value: string): Filter {
  const choices = [
    { value: "", label: "To do" },
    { value: "open", label: "Open" },
    { value: "in_progress", label: "In progress" },
    { value: "ignored", label: "Ignored" },
    { value: "resolved", label: "Resolved" },
    { value: "false_positive", label: "False positive" },
    { value: "all", label: "All" },
  ];
  return { name: "status", label: "Status", kind: "choice", value, choices };
}

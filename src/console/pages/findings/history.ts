/** What scans and people changed of a finding, newest first. */
import { markup, type Html } from "../../../http/html.ts";
import type { EventView } from "../../../security/findings/triage/list-events.ts";
import { cursorLinks } from "../../look/cursor-links.ts";
import { address } from "../../look/forms/address.ts";
import { emptyState } from "../../look/states.ts";
import { table } from "../../look/table.ts";
import { time } from "../../look/time.ts";
import { userText } from "../../look/user-text.ts";
import type { PageCall } from "../../page.ts";

export const eventRowsShown = 25;

const causes: Record<string, string> = {
  decided: "decided",
  found: "found it",
  returned: "found it again",
  decision_followed: "applied the decision",
  component_gone: "found the component gone",
  not_affected: "found the version not affected any longer",
  withdrawn: "found the advisory withdrawn",
  issue_joined: "joined it with another vulnerability",
  issue_followed: "moved it to another vulnerability",
};

const fields: Record<string, string> = {
  status: "status",
  false_positive: "false positive",
  note: "note",
  present: "present",
  decision: "decision",
};

/** @param events one more than is shown if there are older ones */
export function history(events: readonly EventView[], { call, skipped }: { call: PageCall; skipped: number }): Html {
  const shown = events.slice(0, eventRowsShown);
  const links = cursorLinks({
    shown: `Changes ${skipped + 1} to ${skipped + shown.length}`,
    firstPath: skipped > 0 ? call.path : null,
    nextPath: events.length > eventRowsShown ? address(call.path, { events: String(skipped + eventRowsShown) }) : null,
  });
  return markup`${table<EventView>({
    caption: "History",
    columns: [
      { label: "When", kind: "time", cell: ({ at }) => time(at) },
      { label: "Who", kind: "text", cell: ({ actor }) => (actor === "scanner" ? markup`The scanner` : actor) },
      { label: "What", kind: "text", cell: ({ cause }) => causes[cause] ?? cause },
      { label: "Changes", kind: "text", cell: ({ changes }) => (changes.length === 0 ? null : changesOf(changes)) },
    ],
    rows: shown,
    empty: emptyState("Nothing has changed since it was found.", null),
  })}${links}`;
}

function changesOf(changes: EventView["changes"]): Html {
  return markup`${changes.map(({ field, from, to }, index) => {
    const name = fields[field] ?? field;
    const words = from === null ? markup`${name}: ${shown(to)}` : markup`${name}: ${shown(from)} → ${shown(to)}`;
    return index === 0 ? words : markup`; ${words}`;
  })}`;
}

function shown(value: string | boolean | null): Html {
  if (value === null) return markup`none`;
  if (typeof value === "boolean") return markup`${value ? "yes" : "no"}`;
  return userText(value.replaceAll("_", " "));
}

/**
 * The feedback, bug reports and support requests of a workspace. They are filed through the tools API; this page only shows them. A member
 * sees their own.
 */
import { ticketEndpoints } from "../../../control-api/endpoints/tickets.ts";
import { markup, type Html } from "../../../http/html.ts";
import { ticketStatuses, ticketTypes, type TicketStatus } from "../../../security/tickets/schema.ts";
import type { WorkspaceTicket } from "../../../security/tickets/tickets.ts";
import { queryFields, type Page, type PageCall, type PageContent } from "../../page.ts";
import { address, filterForm, type Filter } from "../../look/forms.ts";
import { badge, type Tone, emptyState, cursorLinks, table, time } from "../../look/parts.ts";
import { pageRows } from "../rows-query.ts";

export const ticketsPage: Page = {
  of: "workspace",
  path: "/tickets",
  navigation: { section: "Security", label: "Tickets", icon: "tickets" },
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
};

async function render(call: PageCall): Promise<PageContent> {
  const value = (name: string): string => (call.query.get(name) ?? "").trim();
  const set = queryFields(call.query, ["type", "status"]);
  const before = value("before");
  const input = { ...set, limit: String(pageRows + 1), ...(before !== "" && { before }) };
  const { data } = await call.control(ticketEndpoints.list, input);
  const rows = data.slice(0, pageRows);
  const last = data.length > pageRows ? rows.at(-1) : undefined;
  const own = call.workspace.role === "member";
  return {
    title: "Tickets",
    lead: `Feedback, bug reports and support requests that ${own ? "you have" : "members have"} filed by the tools API, or an agent in ${own ? "your" : "their"} name.`,
    main: markup`${filterForm({ path: call.path, filters: [choice("type", "Type", ticketTypes, value("type")), choice("status", "Status", ticketStatuses, value("status"))] })}
      ${list(rows, { call, own, isFiltered: Object.keys(set).length > 0 })}
      ${cursorLinks({
        shown: `${rows.length} tickets`,
        firstPath: before === "" ? null : address(call.path, set),
        nextPath: last === undefined ? null : address(call.path, { ...set, before: last.id }),
      })}`,
  };
}

function choice(name: string, label: string, words: readonly string[], value: string): Filter {
  const choices = [{ value: "", label: "Any" }, ...words.map((word) => ({ value: word, label: word.replaceAll("_", " ") }))];
  return { name, label, kind: "choice", value, choices };
}

const tones: Record<TicketStatus, Tone> = { open: "warn", in_progress: "neutral", resolved: "good", closed: "neutral" };

function list(
  rows: readonly WorkspaceTicket[],
  { call, own, isFiltered }: { call: PageCall; own: boolean; isFiltered: boolean },
): Html {
  return table<WorkspaceTicket>({
    caption: "Tickets",
    columns: [
      { label: "Reference", kind: "text", cell: ({ reference }) => markup`<code>${reference}</code>` },
      { label: "Subject", kind: "text", cell: ({ subject }) => subject },
      { label: "Type", kind: "badge", cell: ({ type }) => badge("neutral", type) },
      { label: "Status", kind: "badge", cell: ({ status }) => badge(tones[status], status.replaceAll("_", " ")) },
      ...(own ? [] : [{ label: "From", kind: "text" as const, cell: ({ owner }: WorkspaceTicket) => owner }]),
      { label: "Filed", kind: "time", cell: ({ created_at: at }) => time(at) },
    ],
    rows,
    empty: isFiltered
      ? emptyState("No ticket matches these filters.", markup`<a class="button quiet" href="${call.path}">Show all</a>`)
      : emptyState(
          "No tickets yet. An agent or a person files one with a tools key, by report_bug, submit_feedback or create_support_request.",
          null,
        ),
  });
}

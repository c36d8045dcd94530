/**
 * The feedback, bug reports and support requests of a workspace, and one of them with what was written, whose status admins set. They are
 * filed through the tools API. A member sees their own.
 */
import { ticketEndpoints } from "../../../control-api/endpoints/tickets.ts";
import { markup, type Html } from "../../../http/html.ts";
import { ticketStatuses, ticketTypes, type TicketStatus } from "../../../security/tickets/schema.ts";
import type { WorkspaceTicket } from "../../../security/tickets/tickets.ts";
import { managers } from "../../../accounts/audit/actor.ts";
import { queryFields, type ActionResult, type FormFields, type Page, type PageCall, type PageContent } from "../../page.ts";
import { address, filterForm, form, type Filter } from "../../look/forms.ts";
import { badge, type Tone, emptyState, cursorLinks, section, table, time, userText } from "../../look/parts.ts";
import { idToCopy, thingPage } from "../../look/thing.ts";
import { actDialog, formState, hiddenFields } from "../../page-forms.ts";
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
  const isFiltered = Object.keys(set).length > 0;
  const filters = [
    choice("type", "Type", ticketTypes, value("type")),
    choice("status", "Status", ticketStatuses, value("status")),
  ];
  return {
    title: "Tickets",
    lead: `Feedback, bug reports and support requests that ${own ? "you have" : "members have"} filed by the tools API, or an agent in ${own ? "your" : "their"} name.`,
    main: markup`${rows.length === 0 && !isFiltered ? null : filterForm({ path: call.path, filters })}
      ${list(rows, { call, own, isFiltered })}
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
      {
        label: "Reference",
        kind: "text",
        cell: ({ id, reference }) => markup`<a href="${call.link(`/tickets/${id}`)}"><code>${reference}</code></a>`,
      },
      { label: "Subject", kind: "text", cell: ({ subject }) => subject },
      { label: "Type", kind: "badge", cell: ({ type }) => badge("neutral", type) },
      { label: "Status", kind: "badge", cell: ({ status }) => badge(tones[status], statusName(status)) },
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

// One ticket.

export const ticketPage: Page = {
  of: "workspace",
  path: "/tickets/:id",
  navigation: null,
  roles: ["member", "auditor", "admin", "super_admin"],
  render: renderTicket,
  actions: { status: setStatus },
};

async function renderTicket(call: PageCall): Promise<PageContent> {
  const ticket = await call.control(ticketEndpoints.show, { id: call.params["id"] ?? "" });
  const { role } = call.workspace;
  const may = role === "operator" || managers.includes(role);
  const body = statusForm(ticket, call);
  const changing = actDialog(call, { action: "status", label: "Change status", title: "Change the status", body, guards: true });
  const parts = Object.entries(ticket.details).map(([name, value], index) =>
    section(`part-${index}`, partName(name), markup`<p class="written">${userText(partText(value))}</p>`),
  );
  return {
    title: ticket.subject,
    trail: [{ path: call.link("/tickets"), label: "Tickets" }],
    badge: badge(tones[ticket.status], statusName(ticket.status)),
    actions: may ? changing.button : null,
    main: markup`${may ? changing.dialog : null}
      ${thingPage({
        facts: [
          ["Reference", markup`<code>${ticket.reference}</code>`],
          ["Type", ticket.type],
          ["From", ticket.owner],
          ["Filed", time(ticket.created_at)],
          ["Changed", time(ticket.updated_at)],
          ["Id", idToCopy({ id: "ticket-id", value: ticket.id, what: "the id" })],
        ],
        main: markup`${parts}`,
      })}`,
  };
}

function statusName(status: TicketStatus): string {
  return status.replaceAll("_", " ");
}

/** `expected_behavior` → `Expected behavior` */
function partName(name: string): string {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function partText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function statusForm({ status }: WorkspaceTicket, call: PageCall): Html {
  const choices = ticketStatuses.map((word) => ({ value: word, label: partName(word) }));
  return form({
    id: "ticket-status",
    action: call.path,
    hidden: hiddenFields(call, "status"),
    fields: [{ kind: "radios", name: "status", label: "Status", choices }],
    state: formState(call, { action: "status", values: { status } }),
    submit: "Save",
    cancelPath: call.path,
  });
}

async function setStatus(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const { reference, status } = await call.control(ticketEndpoints.edit, {
    id: call.params["id"] ?? "",
    status: typed.text("status"),
  });
  return { goTo: call.path, said: `The ticket ${reference} is ${statusName(status)} now.` };
}

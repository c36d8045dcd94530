/**
 * What lists show of a request, accepted or refused, and when they change: Requests and Home use the same columns, so that a request looks
 * the same on both. A refused one has no tokens, cost or times, since nothing was sent to a provider.
 */
import { logEndpoints } from "../../../control-api/endpoints/log.ts";
import { refusalEndpoints } from "../../../control-api/endpoints/refusals.ts";
import type { GenerationView } from "../../../gateway/generations/schema.ts";
import type { RefusedView } from "../../../gateway/refusals/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { address } from "../../look/forms.ts";
import type { ListColumn } from "../../look/list-view.ts";
import {
  badge,
  type Column,
  type Content,
  content,
  emptyState,
  money,
  section,
  table,
  time,
  userText,
} from "../../look/parts.ts";
import type { PageCall } from "../../page.ts";

/** A row of the log, or a call that was refused. */
export type RequestRow = GenerationView | RefusedView;

export function isRefused(row: RequestRow): row is RefusedView {
  return !("generation_id" in row);
}

export function requestPath(row: Pick<GenerationView, "generation_id"> | Pick<RefusedView, "request_id">): string {
  return "generation_id" in row ? `/requests/${row.generation_id}` : `/requests/refused/${row.request_id}`;
}

interface Callers {
  /** Whether there is a column for people, which is shown if it is chosen: a key's name says more about a request. */
  withMember: boolean;
}

export function requestColumns(call: Pick<PageCall, "link">, callers: Callers): ListColumn<RequestRow>[] {
  const ofAccepted = <Shown>(shown: (row: GenerationView) => Shown) => {
    return (row: RequestRow): Shown | null => (isRefused(row) ? null : shown(row));
  };
  return [
    ...firstColumns(call, callers),
    {
      name: "in",
      label: "Tokens in",
      kind: "number",
      cell: ofAccepted(({ prompt_tokens: tokens }) => tokens.toLocaleString("en-US")),
    },
    {
      name: "out",
      label: "Tokens out",
      kind: "number",
      cell: ofAccepted(({ completion_tokens: tokens }) => tokens.toLocaleString("en-US")),
    },
    { name: "cost", label: "Cost", kind: "money", cell: ofAccepted(({ cost_usd: cost }) => money(cost)) },
    {
      name: "first",
      label: "First token",
      kind: "number",
      cell: ofAccepted(({ first_token_ms: ms }) => (ms === null ? null : duration(ms))),
    },
    { name: "duration", label: "Duration", kind: "number", cell: ofAccepted(({ duration_ms: ms }) => duration(ms)) },
    { name: "provider", label: "Provider", kind: "text", cell: ofAccepted(({ provider }) => provider), isExtra: true },
    { name: "endpoint", label: "Endpoint", kind: "text", cell: ({ endpoint }) => endpoint, isExtra: true },
  ];
}

/** Of a list that has only refused calls, with what their callers were told. */
export function refusedColumns(call: Pick<PageCall, "link">, callers: Callers): ListColumn<RequestRow>[] {
  return [
    ...firstColumns(call, callers),
    { name: "endpoint", label: "Endpoint", kind: "text", cell: ({ endpoint }) => endpoint },
    { name: "message", label: "Message", kind: "text", cell: (row) => (isRefused(row) ? userText(row.message) : null) },
  ];
}

function firstColumns(call: Pick<PageCall, "link">, { withMember }: Callers): ListColumn<RequestRow>[] {
  return [
    {
      name: "time",
      label: "Time",
      kind: "time",
      cell: (row) => markup`<a href="${call.link(requestPath(row))}">${time(row.at, { seconds: true })}</a>`,
    },
    { name: "status", label: "Status", kind: "badge", cell: statusCell },
    { name: "model", label: "Model", kind: "text", cell: ({ model }) => model, inOneLine: true },
    { name: "key", label: "Key", kind: "text", cell: callerOf, inOneLine: true },
    ...(withMember ? [{ name: "member", label: "Member", kind: "text" as const, cell: member, isExtra: true }] : []),
  ];
}

/** Whose requests a page of one thing shows. */
export type OneThing = { key: string } | { member: string } | { model: string } | { provider: string };

const lastShown = 5;

/** The section with the last requests of one thing, such as a key. @param after what follows them; absent: a link to all of them */
export async function lastRequests(
  call: Pick<PageCall, "control" | "link">,
  { only, of, after }: { only: OneThing; of: string; after?: Html },
): Promise<Html> {
  const { data } = await call.control(logEndpoints.list, { ...only, limit: String(lastShown) });
  const rows = table<GenerationView>({
    caption: "Last requests, newest first",
    columns: fewRequestColumns(call, "one thing"),
    rows: data,
    empty: emptyState("No requests yet.", null),
  });
  const all = markup`<p><a href="${address(call.link("/requests"), only)}">All requests of this ${of}</a></p>`;
  return section("requests", "Last requests", markup`${rows}${after ?? (data.length === 0 ? null : all)}`);
}

/** The columns of the last requests beside something else: of one thing, such as a key, or of all keys. */
export function fewRequestColumns(call: Pick<PageCall, "link">, of: "one thing" | "all keys"): Column<RequestRow>[] {
  const shown = new Set(["Time", "Status", "Model", "Cost", "Duration", ...(of === "all keys" ? ["Key"] : [])]);
  return requestColumns(call, { withMember: false }).filter(({ label }) => shown.has(label));
}

function member({ member: email }: RequestRow): Html | null {
  return email === null ? null : userText(email);
}

/** The code is beside the status, or beneath it where the column is narrow. */
function statusCell(row: RequestRow): Html {
  const { status, code } = row;
  const more = code === null ? null : markup` <small>${code}</small>`;
  return markup`${isRefused(row) ? refusedBadge(status) : requestBadge({ status, code: null })}${more}`;
}

/** A refusal is no failure of Weir below 500: a check or a limit did its work. */
export function refusedBadge(status: number): Html {
  return badge(status < 500 ? "neutral" : "bad", `${status} refused`);
}

/** The status, with the error's code if it failed. */
export function requestBadge({ status, code }: Pick<GenerationView, "status" | "code">): Html {
  if (status < 400) return badge("good", String(status));
  return badge(status < 500 ? "warn" : "bad", code === null ? String(status) : `${status} ${code}`);
}

type Caller = Pick<RequestRow, "key_id" | "key_name">;

/** The key's name. */
export function callerName(caller: Caller): Html {
  return content(callerOf(caller));
}

function callerOf({ key_id: id, key_name: name }: Caller): Content {
  return id === null ? markup`<span class="none">Workbench</span>` : (name ?? id);
}

/** Such as `850 ms` or `12.3 s`. */
export function duration(ms: number): string {
  return ms < 1_000
    ? `${ms} ms`
    : `${(ms / 1_000).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 })} s`;
}

/** Enough to see a request that ended after later ones. */
const newestMax = 20;

/**
 * Changes once a request ends, for pages that refresh themselves: it is one small query. It changes each minute, too, since a page may show
 * what other people and times change.
 */
export async function logChanges(call: Pick<PageCall, "control" | "nowMs">): Promise<string> {
  const limit = String(newestMax);
  const [log, refused] = await Promise.all([
    call.control(logEndpoints.list, { limit }),
    call.control(refusalEndpoints.list, { limit }),
  ]);
  const ids = [...log.data.map(({ generation_id: id }) => id), ...refused.data.map(({ request_id: id }) => id)];
  return [Math.floor(call.nowMs / 60_000), ...ids].join(" ");
}

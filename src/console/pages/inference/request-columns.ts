/**
 * What lists show of a request: Requests and Home use the same columns, so that a request looks the same on both.
 */
import type { GenerationView } from "../../../gateway/generations/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { badge, type Column, money, time, userText } from "../../look/parts.ts";
import type { PageCall } from "../../page.ts";

export function requestPath({ generation_id: id }: Pick<GenerationView, "generation_id">): string {
  return `/requests/${id}`;
}

/** @param withMember whether requests of several people are listed */
export function requestColumns(call: Pick<PageCall, "link">, { withMember }: { withMember: boolean }): Column<GenerationView>[] {
  const member = ({ member: email }: GenerationView): Html | null =>
    email === null ? null : markup`<br /><small>${userText(email)}</small>`;
  return [
    {
      label: "Time",
      kind: "time",
      cell: (row) => markup`<a href="${call.link(requestPath(row))}">${time(row.at, { seconds: true })}</a>`,
    },
    { label: "Status", kind: "badge", cell: statusCell },
    { label: "Model", kind: "text", cell: ({ model }) => markup`<code>${userText(model)}</code>` },
    {
      label: withMember ? "Key and member" : "Key",
      kind: "text",
      cell: (row) => markup`${callerName(row)}${withMember ? member(row) : null}`,
    },
    { label: "Tokens in", kind: "number", cell: ({ prompt_tokens: tokens }) => tokens.toLocaleString("en-US") },
    { label: "Out", kind: "number", cell: ({ completion_tokens: tokens }) => tokens.toLocaleString("en-US") },
    { label: "Cost", kind: "money", cell: ({ cost_usd: cost }) => money(cost) },
    { label: "First token", kind: "number", cell: ({ first_token_ms: ms }) => (ms === null ? null : duration(ms)) },
    { label: "Duration", kind: "number", cell: ({ duration_ms: ms }) => duration(ms) },
  ];
}

/** The columns of the last requests beside something else, such as a key's facts. */
export function fewRequestColumns(call: Pick<PageCall, "link">): Column<GenerationView>[] {
  const shown = new Set(["Time", "Status", "Model", "Cost", "Duration"]);
  return requestColumns(call, { withMember: false }).filter(({ label }) => shown.has(label));
}

/** The status for a narrow column. */
function statusCell({ status, code }: GenerationView): Html {
  const below = code === null ? null : markup`<br /><small>${code}</small>`;
  return markup`${requestBadge({ status, code: null })}${below}`;
}

/** The status, with the error's code if it failed. */
export function requestBadge({ status, code }: Pick<GenerationView, "status" | "code">): Html {
  if (status < 400) return badge("good", String(status));
  return badge(status < 500 ? "warn" : "bad", code === null ? String(status) : `${status} ${code}`);
}

/** The key's name. */
export function callerName({ key_id: id, key_name: name }: Pick<GenerationView, "key_id" | "key_name">): Html {
  if (id === null) return markup`<span class="none">Workbench</span>`;
  return userText(name ?? id);
}

/** Such as `850 ms` or `12.3 s`. */
export function duration(ms: number): string {
  return ms < 1_000
    ? `${ms} ms`
    : `${(ms / 1_000).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 })} s`;
}

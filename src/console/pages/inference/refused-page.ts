/**
 * The page of a refused request: the message that the caller got, its meaning, the next step, and how often the same happened in the last
 * day. It also counts refusals by code, for the list of requests. There is no cost, answer or prompt to show: no provider was called, and the
 * text of the request is not kept.
 */
import { refusalEndpoints } from "../../../control-api/endpoints/refusals.ts";
import { refusedDays } from "../../../gateway/refusals/limits.ts";
import type { RefusedView } from "../../../gateway/refusals/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { isoTime } from "../../../kernel/clock.ts";
import { address } from "../../look/forms.ts";
import { facts, section, table, time, userText, type Content } from "../../look/parts.ts";
import { thingPage, type ThingFacts } from "../../look/thing.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { requestReaders, shareLink } from "../share-link.ts";
import { problemBox, titleOf } from "./problem-box.ts";
import { callerName, duration, refusedBadge } from "./request-columns.ts";
import type { RequestFilters } from "./request-rows.ts";

export const refusedRequestPage: Page = {
  of: "workspace",
  path: "/requests/refused/:id",
  navigation: null,
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
};

async function render(call: PageCall): Promise<PageContent> {
  const refused = await call.control(refusalEndpoints.show, { id: call.params["id"] ?? "" });
  const { request_id: id, key_id: key, message, retry_after_ms: retryAfterMs, status, code, model, member } = refused;
  return {
    title: "Refused request",
    badge: refusedBadge(status),
    lead: markup`<code>${id}</code>`,
    trail: [
      { path: call.link("/requests"), label: "Requests" },
      { path: address(call.link("/requests"), { status: "refused" }), label: "Refused" },
    ],
    actions: shareLink(call, { path: `/requests/refused/${id}`, readers: requestReaders(call, member ?? null) }),
    main: markup`${problemBox({ status, code, cause: message, key, model, retryAfterMs }, call)}
      ${thingPage({
        facts: about(refused, call),
        main: section(
          "often",
          "The same in the last 24 hours",
          markup`${await often(refused, call)}<p class="hint">No provider was called, and nothing was charged.</p>`,
        ),
      })}`,
  };
}

function about(
  { at, key_id: key, member, endpoint, model, param, retry_after_ms: wait, ...rest }: RefusedView,
  call: PageCall,
): ThingFacts {
  const caller = callerName({ key_id: key, key_name: rest.key_name });
  const known: (readonly [string, Content | null])[] = [
    ["Model", model === null ? null : markup`<code>${userText(model)}</code>`],
    ["Field", param === null ? null : markup`<code>${userText(param)}</code>`],
    ["Retry-After", wait === null ? null : duration(wait)],
  ];
  return [
    ["Refused", time(at, { seconds: true })],
    ["Key", key === null ? caller : markup`<a href="${call.link(`/keys/${key}`)}">${caller}</a>`],
    ["Member", member],
    ["Endpoint", endpoint],
    ["Code", markup`<code>${rest.code}</code>`],
    ...known.filter(([, value]) => value !== null),
  ];
}

const dayMs = 86_400_000;

/** Refusals with this code: by its key, and by all that the viewer sees. */
async function often({ code, key_id: key, member }: RefusedView, call: PageCall): Promise<Html> {
  const asked = { code, from: isoTime(call.nowMs - dayMs) };
  const caller = key === null ? (member === null ? null : { member }) : { key };
  const [all, own] = await Promise.all([
    call.control(refusalEndpoints.count, asked),
    caller === null ? null : call.control(refusalEndpoints.count, { ...asked, ...caller }),
  ]);
  const list = address(call.link("/requests"), { status: "refused", code, ...(key !== null && { key }) });
  return markup`${facts([
    [key === null ? "By this member" : "With this key", own === null ? null : own.calls.toLocaleString("en-US")],
    [call.workspace.role === "member" ? "All of yours" : "In the workspace", all.calls.toLocaleString("en-US")],
  ])}<p><a href="${list}">The newest of them</a></p>`;
}

// What is refused most, above the list of refused requests.

interface CodeCounts {
  code: string;
  day: number;
  month: number;
}

/** @param of a key or a member whose calls are counted; null of both: all that the viewer sees @returns null: none was refused */
export async function refusedByCode(
  call: PageCall,
  { key, member }: Pick<RequestFilters, "key" | "member">,
): Promise<Html | null> {
  const of = { ...(key && { key }), ...(member && { member }) };
  const [day, month] = await Promise.all([
    call.control(refusalEndpoints.count, { ...of, from: isoTime(call.nowMs - dayMs) }),
    call.control(refusalEndpoints.count, of),
  ]);
  if (month.calls === 0) return null;
  const ofDay = new Map(day.data.map(({ code, calls }) => [code, calls]));
  const rows = month.data.map(({ code, calls }) => ({ code, day: ofDay.get(code) ?? 0, month: calls }));
  const path = (code: string): string => address(call.path, { status: "refused", code, key, member });
  return table<CodeCounts>({
    caption: "Refused calls by code",
    columns: [
      { label: "Code", kind: "text", cell: ({ code }) => markup`<a href="${path(code)}"><code>${code}</code></a>` },
      { label: "Meaning", kind: "text", cell: ({ code }) => titleOf(code) },
      { label: "Last 24 hours", kind: "number", cell: ({ day: calls }) => calls.toLocaleString("en-US") },
      { label: `Last ${refusedDays} days`, kind: "number", cell: ({ month: calls }) => calls.toLocaleString("en-US") },
    ],
    rows,
    empty: markup``,
  });
}

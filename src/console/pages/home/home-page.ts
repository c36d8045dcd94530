/** The first page of a workspace: what is left, what was spent, how requests do, and what needs attention. */
import type { KeyView } from "../../../accounts/keys/schema.ts";
import type { WorkspaceView } from "../../../accounts/workspaces/schema.ts";
import type { GenerationView, LogView } from "../../../gateway/generations/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { monthOf } from "../../../kernel/clock.ts";
import { emptyState } from "../../look/states.ts";
import { table } from "../../look/table.ts";
import { tiles } from "../../look/tiles.ts";
import { userText } from "../../look/user-text.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { pageSection } from "../../page-section.ts";
import { spent } from "../keys/keys-page.ts";
import { blindNotice } from "../security/knowledge.ts";
import { requestColumns } from "../requests/request-columns.ts";
import { monthName } from "../spend/month-name.ts";
import { readMonthSpend } from "../spend/month-spend.ts";
import { spendChart } from "../spend/spend-chart.ts";
import { attentionSections, readAttention } from "./attention.ts";
import { firstSteps } from "./first-steps.ts";
import { creditTile, firstTokenTile, requestsTile, spendTile } from "./home-tiles.ts";

export const homePage: Page = {
  of: "workspace",
  path: "/",
  navigation: { section: null, label: "Home", icon: "home" },
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
};

/** The newest requests that tell how long the first token takes. */
const sampleMax = 200;
const lastRequests = 5;

async function render(call: PageCall): Promise<PageContent> {
  const month = monthOf(call.nowMs);
  const [workspace, spend, log, { data: near }, attention] = await Promise.all([
    call.control<WorkspaceView>("GET", `/workspaces/${call.workspace.id}`),
    readMonthSpend(call, { month, zone: "UTC", by: "model" }),
    call.control<LogView>("GET", "/log", { limit: String(sampleMax) }),
    call.control<{ data: KeyView[] }>("GET", "/keys", { near_limit: "true", limit: "20" }),
    readAttention(call),
  ]);
  const isNew = log.data.length === 0;
  const isOwn = call.workspace.role === "member";
  const all = [
    creditTile(workspace, call),
    spendTile({ workspace, total: spend.total, isOwn }, call),
    requestsTile({ month, total: spend.total, isOwn }, call),
    firstTokenTile({ newest: log.data, sampleMax }, call),
  ];
  const none = emptyState(`Nothing was spent in ${monthName(month)} yet.`, null);
  const title = `${isOwn ? "Your spend" : "Spend"} in ${monthName(month)} by day and model`;
  const attentionNow = markup`${await blindNotice(call)}${nearLimits(near, call)}${attentionSections(attention, call)}`;
  return {
    title: "Home",
    lead: workspace.enabled
      ? null
      : "The platform is switched off for this workspace: its keys are refused until the operator switches it on.",
    main: isNew
      ? markup`${tiles(all)}${await firstSteps(call)}${attentionNow}`
      : markup`${tiles(all)}${spendChart({ id: "spend", title, spend, zone: "UTC", empty: none })}${attentionNow}${newest(log.data, call)}`,
  };
}

function nearLimits(near: readonly KeyView[], call: PageCall): Html | null {
  if (near.length === 0) return null;
  const rows = table<KeyView>({
    caption: "Keys that have spent 80 % of their monthly limit or more",
    columns: [
      { label: "Key", kind: "text", cell: ({ id, name }) => markup`<a href="${call.link(`/keys/${id}`)}">${userText(name)}</a>` },
      { label: "Owner", kind: "text", cell: ({ owner }) => owner },
      { label: "Spent this month", kind: "money", cell: spent },
    ],
    rows: near,
    empty: markup``,
  });
  return pageSection("near", "Keys near their limit", rows);
}

function newest(rows: readonly GenerationView[], call: PageCall): Html {
  const last = table<GenerationView>({
    caption: "Last requests, newest first",
    columns: requestColumns(call, { withMember: call.workspace.role !== "member" }),
    rows: rows.slice(0, lastRequests),
    empty: markup``,
  });
  return pageSection("newest", "Last requests", markup`${last}<p><a href="${call.link("/requests")}">All requests</a></p>`);
}

/** The numbers at the top of Home. */
import type { WorkspaceView } from "../../../accounts/workspaces/schema.ts";
import type { GenerationView } from "../../../gateway/generations/schema.ts";
import type { UsageSums } from "../../../gateway/usage/schema.ts";
import { markup } from "../../../http/html.ts";
import { monthBounds, type Month } from "../../../kernel/clock.ts";
import { parseUsd, type NanoUsd } from "../../../kernel/money.ts";
import { meter } from "../../look/charts/meter.ts";
import { money } from "../../look/money.ts";
import type { Tile } from "../../look/tiles.ts";
import type { Content } from "../../look/user-text.ts";
import type { PageCall } from "../../page.ts";
import { duration } from "../requests/request-columns.ts";
import { monthName } from "../spend/month-name.ts";

type Call = Pick<PageCall, "link" | "nowMs">;

/** What can still be reserved; while the counters cannot answer, the ledger's balance. */
export function creditTile(workspace: WorkspaceView, { nowMs }: Call): Tile {
  const left = workspace.available_usd ?? workspace.balance_usd;
  return { label: "Credit left", value: money(left), note: runsFor({ left: parseUsd(left), workspace, nowMs }) };
}

const dayMs = 86_400_000;

function runsFor({ left, workspace, nowMs }: { left: NanoUsd; workspace: WorkspaceView; nowMs: number }): string {
  const spent = parseUsd(workspace.month_spent_usd);
  if (left <= 0n) return "requests are refused until credit is added";
  if (spent <= 0n) return "nothing spent this month";
  const elapsed = BigInt(Math.max(1, nowMs - monthBounds(workspace.month).startMs));
  const days = (left * elapsed) / spent / BigInt(dayMs);
  if (days > 999n) return "lasts more than 999 days at this month’s pace";
  if (days === 0n) return "lasts less than a day at this month’s pace";
  return `lasts ${days} ${days === 1n ? "day" : "days"} at this month’s pace`;
}

export function spendTile(
  { workspace, total, isOwn }: { workspace: WorkspaceView; total: UsageSums; isOwn: boolean },
  call: Call,
): Tile {
  const { spend_limit_usd: limit, month_spent_usd: used, month } = workspace;
  const drawing = limit === null ? null : meter({ used: parseUsd(used), of: parseUsd(limit), words: "" });
  const ofAll = isOwn ? markup`the workspace spent ${money(used)}` : null;
  const ofLimit = limit === null ? null : markup`of the workspace’s limit of ${money(limit)}`;
  const note =
    ofAll !== null && ofLimit !== null ? markup`${ofAll} ${ofLimit}` : (ofAll ?? ofLimit ?? "the workspace has no limit");
  return {
    label: `${isOwn ? "Your spend" : "Spend"} in ${monthName(month)}`,
    value: money(total.cost_usd),
    drawing,
    note,
    path: call.link("/spend"),
  };
}

export function requestsTile(
  { month, total: { requests, errors }, isOwn }: { month: Month; total: UsageSums; isOwn: boolean },
  call: Call,
): Tile {
  const label = `${isOwn ? "Your requests" : "Requests"} in ${monthName(month)}`;
  const note = requests === 0 ? "none has ended" : `${percent(errors, requests)} failed (${errors.toLocaleString("en-US")})`;
  return { label, value: requests.toLocaleString("en-US"), note, path: call.link("/requests") };
}

function percent(part: number, whole: number): string {
  return `${((part * 100) / whole).toLocaleString("en-US", { maximumFractionDigits: 1 })} %`;
}

/** A sample, since no index has the times. */
export function firstTokenTile(
  { newest, sampleMax }: { newest: readonly GenerationView[]; sampleMax: number },
  { nowMs }: Call,
): Tile {
  const ofDay = newest.filter(({ at }) => Date.parse(at) > nowMs - dayMs);
  const times = ofDay.flatMap(({ first_token_ms: ms }) => (ms === null ? [] : [ms])).toSorted((one, other) => one - other);
  const label = "First token, p50 and p95";
  if (times.length === 0)
    return { label, value: markup`<span class="none">–</span>`, note: "no answer with text in the last 24 hours" };
  const value: Content = `${duration(quantile(times, 0.5))} · ${duration(quantile(times, 0.95))}`;
  const isSample = newest.length === sampleMax && ofDay.length === newest.length;
  return {
    label,
    value,
    note: isSample
      ? `of the newest ${times.length} answers`
      : `of ${times.length} ${times.length === 1 ? "answer" : "answers"} in the last 24 hours`,
  };
}

/** The smallest value that so large a part of all does not exceed. @param sorted ascending, at least one */
function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0;
}

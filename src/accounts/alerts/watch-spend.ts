/**
 * Compares settled spend with the alert rules, off the request path.
 *
 * A round begins every half minute; no request waits for it. A workspace is compared if its ledger has grown, and otherwise every ten
 * minutes, since a limit may have changed. Several processes may run it: a lock lets one at a time compare a workspace, and each threshold
 * is reported once per period (UTC). A balance is reported once, and again only after it was well above its amount.
 */
import type { Database, Transaction } from "../../backing/backing.ts";
import type { Bus } from "../../backing/bus.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import { balanceAlert, limitAlert } from "./words.ts";
import * as limits from "../limits.ts";
import * as store from "./store.ts";
import { isLimitKind, type LimitKind } from "./kinds.ts";
import { recordAlerts, type NewAlert } from "./alerts.ts";

interface WatchParts {
  sql: Database;
  bus: Pick<Bus, "broadcast">;
  clock: Clock;
}

/** Every half minute until disposed. */
export function startWatchingSpend(parts: WatchParts & { log: Logger }): AsyncDisposable {
  const { clock, log } = parts;
  return repeatUntilStopped({
    clock,
    round: (signal) => watchSpend(parts, signal),
    everyMs: limits.alertWatchMs,
    pauseFirst: true,
    onError: (error) =>
      log.warn({ event: "alert.watch.failed", reason: String(error) }, "Spend could not be compared with alerts"),
  });
}

/** One round over all workspaces whose ledger has grown, or that have not been compared for a while. @returns how many alerts are new */
export async function watchSpend(parts: WatchParts, signal?: AbortSignal): Promise<number> {
  const { sql, bus, clock } = parts;
  const now = clock.now();
  let added = 0;
  let changed: store.ChangedWorkspace[];
  do {
    changed = await store.selectChanged(
      { before: new Date(now - limits.alertWatchAgeMs), limit: limits.alertWorkspacesMax },
      sql,
    );
    for (const workspace of changed) {
      if (signal?.aborted) return added;
      added += await sql.begin((tx) => watchWorkspace(workspace, { tx, nowMs: now }));
    }
  } while (changed.length === limits.alertWorkspacesMax);
  if (added > 0) for (const topic of ["mail-waits", "alert-waits"] as const) bus.broadcast(topic);
  await store.deleteAlertsBefore({ ms: now - limits.alertKeptMs, limit: limits.alertsForgottenAtOnceMax }, sql);
  return added;
}

async function watchWorkspace(
  workspace: store.ChangedWorkspace,
  { tx, nowMs }: { tx: Transaction; nowMs: number },
): Promise<number> {
  const alerts: NewAlert[] = [];
  let isWhole = true;
  for (const rule of await store.lockRules(workspace.id, tx)) {
    const { kind, amount } = rule;
    const found = isLimitKind(kind)
      ? await reachedLimits({ rule, kind, nowMs }, tx)
      : await lowBalance({ rule, amount, balance: workspace.balance }, tx);
    isWhole &&= found.length < limits.alertsOfRuleMax;
    alerts.push(...found);
  }
  const at = new Date(nowMs);
  const recorded = await recordAlerts({ workspace, alerts, at }, tx);
  // Otherwise the next round handles the rest.
  if (isWhole) await store.updateWatch({ workspace: workspace.id, sequence: workspace.sequence, at }, tx);
  return recorded;
}

/** Limits reached in this period and in the one that ended a short while ago. */
async function reachedLimits(
  { rule, kind, nowMs }: { rule: store.AlertRule; kind: LimitKind; nowMs: number },
  tx: Transaction,
): Promise<NewAlert[]> {
  const { period } = store.sources[kind];
  const since = Math.max(nowMs - limits.alertLateMs, rule.createdAt.getTime());
  const alerts: NewAlert[] = [];
  for (const of of new Set([period(Math.min(since, nowMs)), period(nowMs)])) {
    for (const spending of await store.selectReached({ rule, kind, period: of, limit: limits.alertsOfRuleMax }, tx)) {
      const { subject, percent, owner } = spending;
      const owners = owner === null ? [] : [owner];
      alerts.push({ ...limitAlert(kind, { ...spending, period: of }), ...factsOf(rule), subject, percent, owners, period: of });
    }
  }
  return alerts;
}

function factsOf({ id, kind, mail, webhooks }: store.AlertRule): Pick<NewAlert, "rule" | "kind" | "mail" | "webhooks"> {
  return { rule: id, kind, mail, webhooks };
}

/**
 * Reported once; then only after the balance was well above the amount, so that a balance close to it does not raise one alert after
 * another.
 */
async function lowBalance(
  { rule, amount, balance }: { rule: store.AlertRule; amount: bigint | null; balance: bigint },
  tx: Transaction,
): Promise<NewAlert[]> {
  if (amount === null) return [];
  if (!rule.armed) {
    if (balance * 100n >= amount * BigInt(limits.alertRearmPercent)) await store.updateArmed({ id: rule.id, armed: true }, tx);
    return [];
  }
  if (balance >= amount) return [];
  await store.updateArmed({ id: rule.id, armed: false }, tx);
  const words = balanceAlert({ balance, amount });
  return [{ ...words, ...factsOf(rule), subject: "", percent: 0, owners: [], period: String(rule.armings) }];
}

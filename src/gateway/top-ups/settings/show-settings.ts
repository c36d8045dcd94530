import type { Actor } from "../../../accounts/audit/actor.ts";
import { authorize, overseers } from "../../../accounts/workspaces/authorize.ts";
import type { Database } from "../../../backing/backing.ts";
import { monthBounds, monthOf, type Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { formatUsd, type NanoUsd } from "../../../kernel/money.ts";
import type { TopUpSettingsView } from "../schema.ts";
import { selectTopUpSettings } from "../settings-store.ts";
import { sumAutomatic } from "../store.ts";
import type { StripeApi } from "../stripe/stripe-api.ts";

interface Sources {
  sql: Database;
  clock: Clock;
  /** null: the operator has set no key. */
  stripe: Pick<StripeApi, "isLive"> | null;
}

/** @throws DomainError forbidden for members */
export async function showTopUpSettings(
  { actor, workspace }: { actor: Actor; workspace: WorkspaceId },
  { sql, clock, stripe }: Sources,
): Promise<TopUpSettingsView> {
  authorize(actor, { roles: overseers, action: "see automatic top-up" });
  const row = await selectTopUpSettings(workspace, sql);
  const since = new Date(monthBounds(monthOf(clock.now())).startMs);
  const usd = (amount: NanoUsd | null): string | null => (amount === null ? null : formatUsd(amount));
  return {
    offered: stripe !== null,
    live: stripe?.isLive ?? false,
    card:
      row.cardBrand === null || row.cardLastFour === null || row.cardExpires === null
        ? null
        : { brand: row.cardBrand, last_four: row.cardLastFour, expires: row.cardExpires },
    enabled: row.enabled,
    paused: row.paused,
    threshold_usd: usd(row.threshold),
    amount_usd: usd(row.amount),
    monthly_cap_usd: usd(row.monthlyCap),
    month_usd: formatUsd(await sumAutomatic({ workspace, since, except: null }, sql)),
    declines: row.failures,
  };
}

/**
 * The gateway's use of provider keys: calls with a workspace's key for a route that has one, and the alert when a provider refuses
 * it, at most once a day.
 */
import type { OwnKey } from "../accounts/keys/record.ts";
import { raiseAlert } from "../accounts/alerts/alerts.ts";
import { refusedKeyText } from "../accounts/alerts/words.ts";
import { findWorkspace } from "../accounts/workspaces/workspaces.ts";
import type { Backing, Transaction } from "../backing/backing.ts";
import type { Keyring } from "../accounts/secrets/keyring.ts";
import type { Config } from "../config.ts";
import { OpenedKeys } from "../gateway/own-keys/sealed-key.ts";
import type { Gateway } from "../gateway/api/gateway.ts";
import type { Models } from "../gateway/models/models.ts";
import { embeddingCalls } from "../gateway/providers/embed.ts";
import { promptCounts, providerCalls } from "../gateway/providers/http.ts";
import { KeyReports, refusalMail } from "../gateway/own-keys/key-reports.ts";
import { ServiceKeyReports } from "../gateway/service-keys/call-reports.ts";
import { isoTime, type Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";

/** Calls providers with the service's keys, or with the workspace's own key for a route that has one. */
export function callsWithOwnKeys({
  config: { clocks },
  models,
  ...parts
}: {
  config: Config;
  models: Pick<Models, "serviceKey">;
  keyring: Keyring;
  clock: Clock;
  log: Logger;
}): Pick<Gateway, "call" | "embed" | "count"> {
  const openedKeys = new OpenedKeys(parts);
  const settled = { clock: parts.clock, clocks, providerKey: models.serviceKey, openOwnKey: openedKeys.open.bind(openedKeys) };
  return { call: providerCalls(settled), embed: embeddingCalls(settled), count: promptCounts(settled) };
}

/** What calls reveal about the keys of workspaces and of the service. */
export function keyReports(parts: { backing: Backing; clock: Clock; log: Logger }): Pick<Gateway, "ownKeys" | "serviceKeys"> {
  const { sql, bus } = parts.backing;
  const notify = bus.broadcast.bind(bus);
  return { ownKeys: openKeyReports(parts), serviceKeys: new ServiceKeyReports({ ...parts, sql, notify }) };
}

export function openKeyReports({
  backing: { sql, bus },
  clock,
  log,
}: {
  backing: Backing;
  clock: Clock;
  log: Logger;
}): KeyReports {
  return new KeyReports({
    sql,
    clock,
    log,
    async tellRefused(key, tx) {
      await tellRefused(key, tx, clock);
      // Both also poll, in case this arrives before the commit.
      for (const topic of ["mail-waits", "alert-waits"] as const) bus.broadcast(topic);
    },
  });
}

async function tellRefused({ workspace, id, provider }: OwnKey, tx: Transaction, clock: Clock): Promise<void> {
  const { name } = await findWorkspace(workspace, { sql: tx, clock });
  await raiseAlert(
    {
      workspace,
      kind: "provider_key_refused",
      subject: id,
      // At most one alert a day.
      occurrence: isoTime(clock.now()),
      text: refusedKeyText({ provider, id }),
      data: { provider, provider_key: { id } },
      mail: refusalMail({ provider, id }, name),
    },
    { sql: tx, clock },
  );
}

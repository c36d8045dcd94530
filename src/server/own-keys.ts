/** The gateway's use of own provider keys, with the mails of the security wing, which the gateway does not know. */
import type { OwnKey } from "../accounts/keys/record.ts";
import { selectMembers } from "../accounts/members/member-store.ts";
import { managers } from "../accounts/workspaces/authorize.ts";
import { findWorkspace } from "../accounts/workspaces/find.ts";
import type { Backing, Transaction } from "../backing/backing.ts";
import type { Keyring } from "../accounts/secrets/keyring.ts";
import type { Config } from "../config.ts";
import { OpenedKeys } from "../gateway/own-keys/opened-keys.ts";
import type { Gateway } from "../gateway/api/gateway.ts";
import { embeddingCalls } from "../gateway/providers/embed.ts";
import { providerCalls } from "../gateway/providers/http.ts";
import { KeyReports } from "../gateway/own-keys/key-reports.ts";
import { refusalMail } from "../gateway/own-keys/refusal-mail.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { insertMail } from "../security/mails/store.ts";

/** Calls of providers with the service's keys, or with the workspace's own for a route that has one. */
export function callsWithOwnKeys({
  config,
  ...parts
}: {
  config: Config;
  keyring: Keyring;
  clock: Clock;
  log: Logger;
}): Pick<Gateway, "call" | "embed"> {
  const { clocks, providerKey } = config;
  const openedKeys = new OpenedKeys(parts);
  const settled = { clock: parts.clock, clocks, providerKey, openOwnKey: openedKeys.open.bind(openedKeys) };
  return { call: providerCalls(settled), embed: embeddingCalls(settled) };
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
      await mailManagers(key, tx, clock);
      // The mailer looks again by itself if this arrives before the commit.
      bus.broadcast("mail-waits");
    },
  });
}

async function mailManagers(key: OwnKey, tx: Transaction, clock: Clock): Promise<void> {
  const { name } = await findWorkspace(key.workspace, { sql: tx, clock });
  const mail = refusalMail(key, name);
  for (const { email, role, active, account } of await selectMembers({ workspace: key.workspace, email: null }, tx)) {
    if (!active || account !== "active" || !managers.includes(role)) continue;
    await insertMail({ ticket: null, recipient: email, ...mail, at: new Date(clock.now()) }, tx);
  }
}

/**
 * Writes a mail to each active admin and super admin of a workspace within the caller's transaction, and wakes the mailer. A notification
 * that arrives before the commit does no harm, since the mailer also polls.
 */
import { selectMembers } from "../members/store.ts";
import { managers } from "../audit/actor.ts";
import type { Transaction } from "../../backing/backing.ts";
import type { Bus } from "../../backing/bus.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { insertMail } from "./store.ts";

/** Call it within the transaction of the change that the mails report. */
export async function mailManagers(
  { workspace, subject, body }: { workspace: WorkspaceId; subject: string; body: string },
  tx: Transaction,
  { bus, clock }: { bus: Pick<Bus, "broadcast">; clock: Clock },
): Promise<void> {
  for (const { email, role, active, account } of await selectMembers({ workspace, email: null }, tx)) {
    if (!active || account !== "active" || !managers.includes(role)) continue;
    await insertMail({ ticket: null, recipient: email, subject, body, at: new Date(clock.now()) }, tx);
  }
  // The mailer also polls, in case this arrives before the commit.
  bus.broadcast("mail-waits");
}

/**
 * Sends due mails, each at least once and at most `mailAttemptsMax` times.
 *
 * An attempt is counted before it begins, and a mail is marked as sent after the server accepted it. If the process dies in between, the
 * mail is sent again with the same Message-ID. After a failure it waits, and doubles the pause each time up to `mailRetryMsMax`. A mail
 * that is given up raises an alarm. The caller ensures that no other process sends at the same time.
 */
import type { Queries } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { raiseAlarm } from "../../kernel/metrics.ts";
import { mailAttemptsMax, mailRetryMs, mailRetryMsMax } from "../limits.ts";
import type { Delivery, MailServer } from "./smtp.ts";
import { beginAttempt, countDue, markGivenUp, markSent, postpone, type Mail } from "./store.ts";

interface SendingParts {
  sql: Queries;
  server: MailServer;
  clock: Clock;
  log: Logger;
}

/**
 * Sends all due mails, one after another.
 * @returns how many were attempted
 * @throws when the server cannot be reached; no attempt is counted
 */
export async function sendDue(parts: SendingParts, signal: AbortSignal): Promise<number> {
  const { sql, server, clock } = parts;
  if ((await countDue(new Date(clock.now()), sql)) === 0) return 0;
  await server.reach();
  let attempted = 0;
  while (!signal.aborted) {
    const mail = await beginAttempt({ now: new Date(clock.now()), domain: server.domain }, sql);
    if (!mail) break;
    attempted++;
    const delivery = await deliver(mail, parts);
    await record(mail, delivery, parts);
  }
  return attempted;
}

/** More attempts than allowed mean that the process died during the last one: the mail is not sent again. */
async function deliver(mail: Mail, { server }: SendingParts): Promise<Delivery> {
  return mail.attempts > mailAttemptsMax ? { kind: "refused", reason: "too many attempts" } : server.deliver(mail);
}

async function record(mail: Mail, delivery: Delivery, { sql, clock, log }: SendingParts): Promise<void> {
  const { id, attempts, messageId } = mail;
  const at = new Date(clock.now());
  if (delivery.kind === "accepted") {
    await markSent({ id, at }, sql);
    log.info({ event: "mail.sent", messageId, attempts });
  } else if (delivery.kind === "refused" || attempts >= mailAttemptsMax) {
    await markGivenUp({ id, at, failure: delivery.reason }, sql);
    raiseAlarm(log, "mail.given_up", { messageId, attempts, reason: delivery.reason }, "A mail will not be sent");
  } else {
    const pauseMs = Math.min(mailRetryMs * 2 ** (attempts - 1), mailRetryMsMax);
    await postpone({ id, until: new Date(at.getTime() + pauseMs), failure: delivery.reason }, sql);
    log.warn({ event: "mail.put_off", messageId, attempts, pauseMs, reason: delivery.reason });
  }
}

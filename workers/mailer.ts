/**
 * The worker that sends emails, one at a time. An advisory lock lets one mailer of a fleet send; if it dies, another takes over. After a
 * failure it waits longer each time, and a longer queue does not make it contact an unreachable server more often.
 */
import { mailPollMs, mailServerRetryMs, mailServerRetryMsMax } from "../src/accounts/limits.ts";
import { sendDue } from "../src/accounts/mails/send-due.ts";
import { mailServer, reasonOf } from "../src/accounts/mails/smtp.ts";
import { tryAdvisoryLock } from "../src/backing/advisory-lock.ts";
import type { Database } from "../src/backing/backing.ts";
import type { Bus } from "../src/backing/bus.ts";
import type { Clock } from "../src/kernel/clock.ts";
import type { Logger } from "../src/kernel/log.ts";
import { repeatUntilStopped } from "../src/kernel/repeat.ts";
import type { MailConfig } from "../src/process/environment/services.ts";
import type { KindParts } from "./kind.ts";

export interface MailerParts {
  sql: Database;
  bus: Pick<Bus, "listen">;
  /** null: emails wait in the database. */
  mail: MailConfig | null;
  /** Takes the lock for sending, which one mailer of a fleet holds at a time; null: another holds it. */
  lock: () => Promise<AsyncDisposable | null>;
  clock: Clock;
  log: Logger;
}

/** Sends when notified of a waiting email, and at regular intervals, since a notification may be lost. */
export function startMailer(parts: MailerParts): AsyncDisposable {
  const { mail, bus, lock, clock, log } = parts;
  if (mail === null) {
    log.info({ event: "mail.waits" }, "SMTP_URL is not set: mails wait until it is set");
    return new AsyncDisposableStack();
  }
  const server = mailServer(mail);
  return repeatUntilStopped({
    clock,
    async round(signal) {
      await using held = await lock();
      if (held !== null) await sendDue({ ...parts, server }, signal);
    },
    everyMs: mailPollMs,
    wakeOn: (wake) => bus.listen("mail-waits", wake),
    // A longer queue does not make it contact an unreachable server more often.
    retryMs: (failures) => Math.min(mailServerRetryMs * 2 ** (failures - 1), mailServerRetryMsMax),
    onError(error) {
      log.warn({ event: "mail.unreachable", reason: reasonOf(error) }, "Mails cannot be sent at present");
    },
  });
}

export async function start({ config, backing, clock, log }: KindParts): Promise<AsyncDisposable> {
  const lock = () => tryAdvisoryLock("weir mailer", { ...backing, clock });
  return startMailer({ ...backing, mail: config.mail, clock, log, lock });
}

/** The worker that sends mails, one at a time. An advisory lock lets one mailer of a fleet send; when it dies, another takes over. */
import type { Database } from "../src/backing/backing.ts";
import type { Bus } from "../src/backing/bus.ts";
import type { MailConfig } from "../src/config.ts";
import { sleep, type Clock } from "../src/kernel/clock.ts";
import type { Logger } from "../src/kernel/log.ts";
import { mailPollMs, mailServerRetryMs, mailServerRetryMsMax } from "../src/security/limits.ts";
import { sendDue } from "../src/security/mails/send-due.ts";
import { mailServer, reasonOf, type MailServer } from "../src/security/mails/smtp.ts";

export interface MailerParts {
  sql: Database;
  bus: Pick<Bus, "listen">;
  /** null: mails wait in the database. */
  mail: MailConfig | null;
  /** Takes the lock for sending, which one mailer of a fleet holds at a time; null: another one holds it. */
  lock: () => Promise<AsyncDisposable | null>;
  clock: Clock;
  log: Logger;
}

export function startMailer(parts: MailerParts): AsyncDisposable {
  const { mail, log } = parts;
  if (mail === null) {
    log.info({ event: "mail.waits" }, "SMTP_URL is not set: mails wait until it is set");
    return new AsyncDisposableStack();
  }
  const stop = new AbortController();
  const running = mailUntilStopped(parts, mailServer(mail), stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

/** Sends when notified that a mail waits, and at regular intervals, since a notification may be lost. */
async function mailUntilStopped(parts: MailerParts, server: MailServer, signal: AbortSignal): Promise<void> {
  let pause = new AbortController();
  const wake = (): void => pause.abort();
  using _listening = parts.bus.listen("mail-waits", wake);
  signal.addEventListener("abort", wake);
  for (let failures = 0; !signal.aborted;) {
    pause = new AbortController();
    const reached = await round(parts, server, signal);
    failures = reached ? 0 : failures + 1;
    if (reached && !signal.aborted) await sleep(parts.clock, mailPollMs, pause.signal);
    // More waiting mails do not make it call an unreachable server more often.
    if (!reached) await sleep(parts.clock, Math.min(mailServerRetryMs * 2 ** (failures - 1), mailServerRetryMsMax), signal);
  }
}

/** Never rejects. @returns whether the mail server and the database were reachable */
async function round({ lock, ...parts }: MailerParts, server: MailServer, signal: AbortSignal): Promise<boolean> {
  try {
    await using held = await lock();
    if (held !== null) await sendDue({ ...parts, server }, signal);
    return true;
  } catch (error) {
    parts.log.warn({ event: "mail.unreachable", reason: reasonOf(error) }, "Mails cannot be sent at present");
    return false;
  }
}

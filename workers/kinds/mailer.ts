import { tryAdvisoryLock } from "../../src/backing/advisory-lock.ts";
import { startMailer } from "../mailer.ts";
import type { KindParts } from "./kind.ts";

export async function start({ config, backing, clock, log }: KindParts): Promise<AsyncDisposable> {
  const lock = () => tryAdvisoryLock("weir mailer", { ...backing, clock });
  return startMailer({ ...backing, mail: config.mail, clock, log, lock });
}

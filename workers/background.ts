/**
 * Prober, mailer and scanner in one process, for a machine that runs a whole fleet: three processes would use three times the memory and
 * mostly be idle. A scan yields within milliseconds, so emails and probes do not wait for it.
 */
import type { KindParts } from "./kind.ts";
import { start as startMailer } from "./mailer.ts";
import { start as startProber } from "./prober.ts";
import { start as startScanner } from "./scanner.ts";

export async function start(parts: KindParts): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  for (const startOne of [startProber, startMailer, startScanner]) stack.use(await startOne(parts));
  return stack.move();
}

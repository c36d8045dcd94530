import { tryAdvisoryLock } from "../../src/backing/advisory-lock.ts";
import { openCounters } from "../../src/backing/open-backing.ts";
import { startMetering } from "../metering.ts";
import { startTopUps } from "../top-ups.ts";
import type { KindParts } from "./kind.ts";

export async function start(parts: KindParts): Promise<AsyncDisposable> {
  const { config, backing, clock, log } = parts;
  const { stripe, publicUrl } = config;
  await using stack = new AsyncDisposableStack();
  const counters = stack.use(await openCounters(parts));
  const lock = (name: string) => tryAdvisoryLock(name, { ...backing, clock });
  stack.use(await startTopUps({ backing, counters, stripe, publicUrl, lock, clock, log }));
  stack.use(await startMetering({ backing, counters, lock, clock, log }));
  return stack.move();
}

/** Removes former SBOMs of projects beyond the limit. Several processes may do so at once. */
import type { Database } from "../src/backing/backing.ts";
import { sleep, type Clock } from "../src/kernel/clock.ts";
import type { Logger } from "../src/kernel/log.ts";
import { formerSbomsEveryMs, formerSbomsPauseMs } from "../src/security/limits.ts";
import { markFormer, removeSomeFormer } from "../src/security/projects/former-sboms.ts";

interface Parts {
  sql: Database;
  clock: Clock;
  log: Logger;
  /** How many SBOMs each project keeps, including its current one. */
  sbomsKept: number;
}

export function startFormerSboms(parts: Parts): AsyncDisposable {
  const stop = new AbortController();
  const running = removeUntilStopped(parts, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

async function removeUntilStopped(parts: Parts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      while (!signal.aborted && (await markFormer(parts.sbomsKept, parts)) > 0);
      while (!signal.aborted && (await removeSomeFormer(parts.sql))) await sleep(parts.clock, formerSbomsPauseMs, signal);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      parts.log.warn({ event: "sboms.kept", code }, "Former SBOMs cannot be removed at present");
    }
    if (!signal.aborted) await sleep(parts.clock, formerSbomsEveryMs, signal);
  }
}

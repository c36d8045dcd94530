/** Removes former SBOMs of projects beyond the limit. Several processes may do so at once. */
import type { Database } from "../src/backing/backing.ts";
import { sleep, type Clock } from "../src/kernel/clock.ts";
import type { Logger } from "../src/kernel/log.ts";
import { repeatUntilStopped } from "../src/kernel/repeat.ts";
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
  const { sql, clock, log, sbomsKept } = parts;
  return repeatUntilStopped({
    clock,
    async round(signal) {
      while (!signal.aborted && (await markFormer(sbomsKept, parts)) > 0);
      while (!signal.aborted && (await removeSomeFormer(sql))) await sleep(clock, formerSbomsPauseMs, signal);
    },
    everyMs: formerSbomsEveryMs,
    onError(error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      log.warn({ event: "sboms.kept", code }, "Former SBOMs cannot be removed at present");
    },
  });
}

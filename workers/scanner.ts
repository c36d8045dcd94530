/**
 * The worker that scans projects, one at a time, removes former SBOMs and ends accepted risks. The scanners of a fleet share the projects, and take over those
 * of a scanner that dies. A scanner has low priority, so that chats get the CPU first.
 */
import { constants } from "node:os";
import type { Database } from "../src/backing/backing.ts";
import type { Bus } from "../src/backing/bus.ts";
import { type Clock, sleep } from "../src/kernel/clock.ts";
import { errorCode } from "../src/kernel/error-code.ts";
import type { Logger } from "../src/kernel/log.ts";
import { repeatUntilStopped } from "../src/kernel/repeat.ts";
import { lowerPriority } from "../src/process/subprocess.ts";
import { scanNext } from "../src/security/findings/scan/scan-next.ts";
import { endAcceptedRisks } from "../src/security/findings/triage/accepted-risks.ts";
import { acceptedRisksEveryMs, scanPollMs, formerSbomsEveryMs, formerSbomsPauseMs } from "../src/security/limits.ts";
import { markFormer, removeSomeFormer } from "../src/security/projects/former-sboms.ts";
import type { KindParts } from "./kind.ts";

export interface ScannerParts {
  sql: Database;
  bus: Pick<Bus, "listen">;
  clock: Clock;
  log: Logger;
}

/** Scans when notified of a waiting project, and at regular intervals, since notifications may be lost and leases expire without one. */
export function startScanner(parts: ScannerParts): AsyncDisposable {
  const { bus, clock, log } = parts;
  return repeatUntilStopped({
    clock,
    async round(signal) {
      while (!signal.aborted && (await scanNext(parts, signal)));
    },
    everyMs: scanPollMs,
    wakeOn: (wake) => bus.listen("scan-waits", wake),
    onError(error) {
      const code = errorCode(error);
      log.warn({ event: "scan.unreachable", code }, "Projects cannot be scanned at present");
    },
  });
}

interface Parts {
  sql: Database;
  clock: Clock;
  log: Logger;
  /** How many SBOMs each project keeps, including its current one. */
  sbomsKept: number;
}

/** Removes former SBOMs of projects beyond the limit. Several processes may do this at once. */
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
      const code = errorCode(error);
      log.warn({ event: "sboms.kept", code }, "Former SBOMs cannot be removed at present");
    },
  });
}

/** Opens findings whose accepted risk has ended. Several processes may do this at once. */
export function startAcceptedRisks(parts: Pick<Parts, "sql" | "clock" | "log">): AsyncDisposable {
  const { clock, log } = parts;
  return repeatUntilStopped({
    clock,
    async round(signal) {
      while (!signal.aborted && (await endAcceptedRisks(parts)) > 0);
    },
    everyMs: acceptedRisksEveryMs,
    onError(error) {
      const code = errorCode(error);
      log.warn({ event: "risks.kept", code }, "Accepted risks that have ended cannot be opened at present");
    },
  });
}

export async function start({ config, backing, clock, log }: KindParts): Promise<AsyncDisposable> {
  // Scans have low priority, so that chat requests get the CPU first.
  lowerPriority(process.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  await using stack = new AsyncDisposableStack();
  stack.use(startFormerSboms({ ...backing, clock, log, sbomsKept: config.sbomsKept }));
  stack.use(startAcceptedRisks({ ...backing, clock, log }));
  stack.use(startScanner({ ...backing, clock, log }));
  return stack.move();
}

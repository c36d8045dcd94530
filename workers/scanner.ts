/** The worker that scans projects, one at a time. The scanners of a fleet share the projects, and take over those of one that dies. */
import type { Database } from "../src/backing/backing.ts";
import type { Bus } from "../src/backing/bus.ts";
import { scanNext } from "../src/security/findings/scan/scan-next.ts";
import type { Clock } from "../src/kernel/clock.ts";
import type { Logger } from "../src/kernel/log.ts";
import { repeatUntilStopped } from "../src/kernel/repeat.ts";
import { scanPollMs } from "../src/security/limits.ts";

export interface ScannerParts {
  sql: Database;
  bus: Pick<Bus, "listen">;
  clock: Clock;
  log: Logger;
}

/** Scans when notified that a project waits, and at regular intervals, since a notification may be lost and leases expire without one. */
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
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      log.warn({ event: "scan.unreachable", code }, "Projects cannot be scanned at present");
    },
  });
}

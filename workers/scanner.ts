/** The worker that scans projects, one at a time. The scanners of a fleet share the projects, and take over those of one that dies. */
import type { Database } from "../src/backing/backing.ts";
import type { Bus } from "../src/backing/bus.ts";
import { scanNext } from "../src/security/findings/scan/scan-next.ts";
import { sleep, type Clock } from "../src/kernel/clock.ts";
import type { Logger } from "../src/kernel/log.ts";
import { scanPollMs } from "../src/security/limits.ts";

export interface ScannerParts {
  sql: Database;
  bus: Pick<Bus, "listen">;
  clock: Clock;
  log: Logger;
}

export function startScanner(parts: ScannerParts): AsyncDisposable {
  const stop = new AbortController();
  const running = scanUntilStopped(parts, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

/** Scans when notified that a project waits, and at regular intervals, since a notification may be lost and leases expire without one. */
async function scanUntilStopped(parts: ScannerParts, signal: AbortSignal): Promise<void> {
  let pause = new AbortController();
  const wake = (): void => pause.abort();
  using _listening = parts.bus.listen("scan-waits", wake);
  signal.addEventListener("abort", wake);
  while (!signal.aborted) {
    pause = new AbortController();
    await scanWaiting(parts, signal);
    if (!signal.aborted) await sleep(parts.clock, scanPollMs, pause.signal);
  }
}

/** Never rejects. */
async function scanWaiting(parts: ScannerParts, signal: AbortSignal): Promise<void> {
  try {
    while (!signal.aborted && (await scanNext(parts, signal)));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    parts.log.warn({ event: "scan.unreachable", code }, "Projects cannot be scanned at present");
  }
}

/** The worker that scans projects, one at a time; several of a fleet share them, and what one leaves behind the others take up. */
import type { Database } from "../src/backing/backing.ts";
import type { Bus } from "../src/backing/bus.ts";
import { scanNext } from "../src/security/findings/scan-next.ts";
import { sleep, type Clock } from "../src/kernel/clock.ts";
import type { Logger } from "../src/kernel/log.ts";
import { scanPollMs } from "../src/limits/tools.ts";

export interface ScannerParts {
  sql: Database;
  bus: Pick<Bus, "listen">;
  clock: Clock;
  log: Logger;
}

export function startScanner(parts: ScannerParts): AsyncDisposable {
  const stop = new AbortController();
  const running = scanForEver(parts, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

/** Looks when it is told that a project waits, and regularly, for what is told may be lost and leases run out in silence. */
async function scanForEver(parts: ScannerParts, signal: AbortSignal): Promise<void> {
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

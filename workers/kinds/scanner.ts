import { constants } from "node:os";
import { lowerPriority } from "../../src/process/subprocess.ts";
import { startFormerSboms } from "../former-sboms.ts";
import { startScanner } from "../scanner.ts";
import type { KindParts } from "./kind.ts";

export async function start({ config, backing, clock, log }: KindParts): Promise<AsyncDisposable> {
  // Scans have low priority, so that chat requests get the CPU first.
  lowerPriority(process.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  await using stack = new AsyncDisposableStack();
  stack.use(startFormerSboms({ ...backing, clock, log, sbomsKept: config.sbomsKept }));
  stack.use(startScanner({ ...backing, clock, log }));
  return stack.move();
}

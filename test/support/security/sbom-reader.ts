import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, type Clock } from "../../../src/kernel/clock.ts";
import type { DiskSpaceGuard } from "../../../src/accounts/quotas/disk-space-guard.ts";
import { SbomReader } from "../../../src/security/sboms/reader.ts";

/** A disk that is never full. */
export const roomyDisk = { require: async () => {} };

/** What it puts down has no name from then on, so that nothing has to be cleared away. */
export function testSbomReader(clock: Clock = systemClock, disk: Pick<DiskSpaceGuard, "require"> = roomyDisk): SbomReader {
  return new SbomReader({ clock, folder: join(tmpdir(), "weir-test-documents"), disk });
}

import type { Database } from "../../../backing/backing.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { Lease, ScanState } from "../../scans/lease.ts";

/** A running scan. */
export interface Scan extends ScanState {
  lease: Lease;
  sql: Database;
  clock: Clock;
  /** The project's current SBOM; null: it has none. */
  sbom: string | null;
  /** When aborted, the scan ends before the next step. */
  signal: AbortSignal;
}

import type { Database } from "../../../backing/backing.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { Lease, ScanState } from "../../scans/lease.ts";

/** A scan under way. */
export interface Scan extends ScanState {
  lease: Lease;
  sql: Database;
  clock: Clock;
  /** The document that says what the project is made of; null: there is none. */
  sbom: string | null;
  /** Aborted: it ends at the next step. */
  signal: AbortSignal;
}

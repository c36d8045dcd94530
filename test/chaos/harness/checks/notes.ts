/** What the harness noted while a run went on: clients, provider, faults. What is stored is read when it is quiet. */
import type { Episode } from "../faults/episode.ts";
import type { ClientCall } from "../load/client-call.ts";
import type { Customer } from "../load/customers.ts";
import type { ProviderCall } from "../world/provider.ts";

export interface RunNotes {
  customers: readonly Customer[];
  /** Wall-clock milliseconds, as all times of a run. */
  startedAt: number;
  clients: readonly ClientCall[];
  provider: readonly ProviderCall[];
  episodes: readonly Episode[];
  /** Credit that was confirmed, hence to be in the ledger exactly once. */
  topUps: readonly { workspace: string; reference: string }[];
  /** From when on a key was known to be revoked. */
  revoked: readonly { key: string; at: number }[];
  quiet: Quiet;
}

export interface Quiet {
  at: number;
  /** From the last answer. */
  afterMs: number;
  unsettled: number;
  backlog: number;
  unknownAdmissions: number;
  /** What was still under way when waiting ended; nothing where all is well. */
  unfinished: string[];
}

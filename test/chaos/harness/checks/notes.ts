/** The notes that the harness takes during a run: clients, provider, faults. Stored rows are read after it. */
import type { Episode } from "../faults/episode.ts";
import type { ClientCall } from "../load/client-call.ts";
import type { Customer } from "../load/customers.ts";
import type { ProviderCall } from "../world/provider.ts";

export interface RunNotes {
  customers: readonly Customer[];
  /** In wall-clock milliseconds, like all times of a run. */
  startedAt: number;
  clients: readonly ClientCall[];
  provider: readonly ProviderCall[];
  episodes: readonly Episode[];
  /** Credit whose addition was confirmed, so that it must be in the ledger exactly once. */
  topUps: readonly { workspace: string; reference: string }[];
  /** When the revocation of each key was confirmed. */
  revoked: readonly { key: string; at: number }[];
  /** What cards paid, and what the one workspace that pays by card may pay in a month; null: none pays. */
  cards: CardNotes | null;
  /** The block of each generation that was admitted with one. */
  blocks: ReadonlyMap<string, string>;
  quiet: Quiet;
}

export interface CardNotes {
  workspace: string;
  monthlyCap: bigint;
  paid: readonly { at: number; payment: string; amount: bigint; isAutomatic: boolean }[];
}

export interface Quiet {
  at: number;
  /** Time since the last answer. */
  afterMs: number;
  unsettled: number;
  backlog: number;
  unknownAdmissions: number;
  /** Work that was unfinished when waiting ended. */
  unfinished: string[];
}

/** All that is known of a run when it is over. */
import type { Episode } from "../faults/episode.ts";
import type { ClientCall } from "../load/client-call.ts";
import type { ProviderCall } from "../world/provider.ts";
import type { Stored } from "./stored.ts";

export interface Evidence {
  clients: readonly ClientCall[];
  provider: readonly ProviderCall[];
  episodes: readonly Episode[];
  stored: Stored;
  /** Ended well, hence to be in the ledger exactly once. */
  topUps: readonly { workspace: string; reference: string }[];
  /** By the id of the key. */
  requestsPerMinute: ReadonlyMap<string, number>;
}

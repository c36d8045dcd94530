/**
 * A key with what admission needs to know of its owner and workspace. Admission caches it for at most 30 s. Its secrets stay sealed; only a
 * gateway opens them. Its encoding on the bus is in gateway/admission.
 */
import type { NanoUsd } from "../../kernel/money.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";

/** A workspace's own key for a provider. Workers pass it on sealed; only a gateway opens it. */
export interface OwnKey {
  id: string;
  workspace: WorkspaceId;
  /** Id of the provider. */
  provider: string;
  /** refused: the provider refused it in its last use, and it is still tried. */
  state: "active" | "refused";
  /** Whether the provider retains no data under this key's account. */
  zeroDataRetention: boolean;
  /** In base64, sealed with the workspace's data key. */
  sealed: string;
  /** In base64, the workspace's data key, sealed with a key of SECRETS_KEY; null: it is missing. */
  dataKey: string | null;
  /** Digests of the catalog's entries whose launch check passed with this key. */
  checks: readonly string[];
}

interface MemberBudget {
  /** The member's caller id. */
  caller: KeyId;
  limit: NanoUsd;
}

export interface KeyRecord {
  id: KeyId;
  workspace: WorkspaceId;
  owner: string;
  name: string;
  start: string;
  /** null: the default of 60. */
  requestsPerMinute: number | null;
  monthlyLimit: NanoUsd | null;
  workspaceLimit: NanoUsd | null;
  /** What the key may spend in a UTC day; null or absent: no budget, like the two below. */
  dailyLimit?: NanoUsd | null;
  workspaceDailyLimit?: NanoUsd | null;
  /** What the owner may spend in a month, with all keys and in the Workbench. */
  memberBudget?: MemberBudget | null;
  /** The platform is switched on for the workspace. */
  enabled: boolean;
  earlyAccess: string[];
  fallbacks: boolean;
  zeroDataRetention: boolean;
  promptStorage: boolean;
  costInAnswers: boolean;
  /** Answers to requests with an idempotency key are kept and sent again; absent: they are not. Never with zero data retention. */
  idempotentReplay?: boolean;
  /** At most one for each provider; null or absent: none, or they are switched off. */
  ownKeys?: readonly OwnKey[] | null;
  /** Models that an own key serves may also be served on credit, by other providers. */
  ownKeyFallback?: boolean;
}

/** A key with the facts of its owner and workspace that admission needs, which caches it for at most 30 s. */
import type { NanoUsd } from "../../kernel/money.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";

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
  /** The platform is switched on for the workspace. */
  enabled: boolean;
  earlyAccess: string[];
  fallbacks: boolean;
  zeroDataRetention: boolean;
  promptStorage: boolean;
  costInAnswers: boolean;
}

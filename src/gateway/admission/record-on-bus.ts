/** A key's record as gateways receive it: without its owner, limits as text. */
import type { KeyRecord, OwnKey } from "../../accounts/keys/record.ts";
import type { RecordOnBus } from "./message.ts";

/** About the bytes that the own keys add to a reply. */
export function ownKeyBytes({ ownKeys }: Pick<KeyRecord, "ownKeys">): number {
  const bytes = ({ sealed, dataKey, checks }: OwnKey): number =>
    sealed.length + (dataKey?.length ?? 0) + checks.reduce((sum, { length }) => sum + length + 3, 256);
  return ownKeys?.reduce((sum, key) => sum + bytes(key), 0) ?? 0;
}

export function recordOnBus(record: KeyRecord): RecordOnBus {
  return {
    id: record.id,
    workspace: record.workspace,
    name: record.name,
    start: record.start,
    requestsPerMinute: record.requestsPerMinute,
    monthlyLimit: record.monthlyLimit?.toString() ?? null,
    ...(record.dailyLimit && { dailyLimit: record.dailyLimit.toString() }),
    enabled: record.enabled,
    earlyAccess: record.earlyAccess,
    fallbacks: record.fallbacks,
    zeroDataRetention: record.zeroDataRetention,
    promptStorage: record.promptStorage,
    costInAnswers: record.costInAnswers,
    ...(record.ownKeys &&
      record.ownKeys.length > 0 && { ownKeys: record.ownKeys, ownKeyFallback: record.ownKeyFallback ?? false }),
  };
}

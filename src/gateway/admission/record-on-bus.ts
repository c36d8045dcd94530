/** A key's record as gateways receive it: without its owner, limits as text. */
import type { KeyRecord } from "../../accounts/keys/record.ts";
import type { RecordOnBus } from "./message.ts";

export function recordOnBus(record: KeyRecord): RecordOnBus {
  return {
    id: record.id,
    workspace: record.workspace,
    name: record.name,
    start: record.start,
    requestsPerMinute: record.requestsPerMinute,
    monthlyLimit: record.monthlyLimit?.toString() ?? null,
    enabled: record.enabled,
    earlyAccess: record.earlyAccess,
    fallbacks: record.fallbacks,
    zeroDataRetention: record.zeroDataRetention,
    promptStorage: record.promptStorage,
    costInAnswers: record.costInAnswers,
  };
}

/** Records of keys for tests that need no database. */
import { hashKey } from "../../../src/kernel/ids.ts";
import type { KeyRecord } from "../../../src/accounts/keys/record.ts";

export function keyRecord(fields: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: "key-1",
    workspace: "ws-1",
    owner: "owner@example.com",
    name: "first key",
    start: "platform-api-00000000",
    requestsPerMinute: null,
    monthlyLimit: null,
    workspaceLimit: null,
    enabled: true,
    earlyAccess: [],
    fallbacks: true,
    zeroDataRetention: false,
    promptStorage: false,
    costInAnswers: false,
    ...fields,
  };
}

/** A key hash in the form that gateways send. */
export function hashOf(name: string): string {
  return hashKey(name);
}

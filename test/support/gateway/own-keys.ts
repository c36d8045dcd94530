/** Own provider keys for tests that need no database. */
import type { OwnKey } from "../../../src/accounts/keys/record.ts";

export function ownKey(fields: Partial<OwnKey> = {}): OwnKey {
  return {
    id: "own-1",
    workspace: "ws-1",
    provider: "stub",
    state: "active",
    zeroDataRetention: false,
    sealed: "c2VhbGVk",
    dataKey: "d3JhcHBlZA==",
    checks: [],
    ...fields,
  };
}

/** What the measurements of admission share: a request that nothing limits, and its decision with its release. */
import type { AdmitRequest, Counters } from "../../src/backing/counters.ts";
import type { Month } from "../../src/kernel/clock.ts";
import { newGenerationId, type KeyId, type WorkspaceId } from "../../src/kernel/ids.ts";

/** Enough for all requests of a measurement, in nano-USD. */
export const balance = 1_000_000_000_000_000n;

export function admitRequest(workspace: WorkspaceId, key: KeyId): AdmitRequest {
  return {
    generation: newGenerationId(Date.now()),
    workspace,
    key,
    fingerprint: "00112233445566778899aabbccddeeff",
    requestsPerMinute: 1_000_000,
    amount: 1_000n,
    keyLimit: null,
    workspaceLimit: null,
    modelRefusal: null,
    deadline: null,
  };
}

/** @throws Error when one of the requests is not admitted */
export async function admitAndRelease(counters: Counters, month: Month, requests: AdmitRequest[]): Promise<void> {
  const { replies } = await counters.admitMany({ month, requests });
  const refused = replies.find(({ outcome }) => outcome !== "admitted");
  if (refused) throw new Error(`Not admitted: ${refused.outcome}`);
  const resolve = requests.map(({ workspace, generation }) => ({ workspace, generation, as: "settled" as const }));
  await counters.resolveMany({ resolve, accounts: [], keyMonths: [] });
}

import type { WorkspaceLoad } from "./counters.ts";

/**
 * @param loading the load that the store waits for
 * @throws Error when this is another: its data may lack requests that were admitted since
 */
export function assertCurrent({ begun, account }: WorkspaceLoad, loading: string | null): void {
  if (begun === undefined || begun === loading) return;
  throw new Error(`Cannot load workspace "${account.workspace}": the counters were emptied or restarted since this load began`);
}

import type { Caller } from "../operations/caller.ts";

/** A request with a valid key within its rate limit. */
export interface AuthenticatedCall {
  request: Request;
  caller: Caller;
  /** Counts further calls against the key, for a request that costs more than an ordinary one. */
  charge(calls: number): void;
}

import type { Caller } from "../operations/caller.ts";

/** A request whose key is known and has not called too often. */
export interface Called {
  request: Request;
  caller: Caller;
  /** What the call took beyond an ordinary one counts against its key. */
  charge(calls: number): void;
}

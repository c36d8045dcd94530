/**
 * Runs an endpoint, for HTTP and for the Console's pages in the same process: as the principal's actor in a workspace, within the
 * endpoint's deadline. The endpoint checks the fields itself, so that both callers get the same checks, changes and errors.
 */
import { DomainError } from "../accounts/errors.ts";
import type { Principal } from "../accounts/members/principal.ts";
import type { Turn } from "../accounts/quotas/fair-semaphore.ts";
import { withDeadline } from "../kernel/clock.ts";
import { resolveActors } from "./actor-resolver.ts";
import type { Endpoint, EndpointCall } from "./endpoint.ts";
import type { ControlParts } from "./parts.ts";

interface Call<Result> {
  principal: Principal;
  endpoint: Pick<Endpoint, "deadlineMs"> & { run(call: EndpointCall<Record<string, unknown>>): Promise<Result> };
  input: Record<string, unknown>;
  /** The path's `:id`; empty if it has none. */
  id: string;
  request: Request;
  server?: EndpointCall<unknown>["server"];
  file: EndpointCall<unknown>["file"];
  /** Lasts until the work has ended, which may be after the deadline. */
  turn?: Turn;
}

/** @throws DomainError; DeadlineError */
export async function runEndpoint<Result>(
  { principal, endpoint, server = null, turn, ...call }: Call<Result>,
  parts: ControlParts,
): Promise<Result> {
  // PostgreSQL takes no NUL, and no id has one.
  if (call.id.includes("\u0000")) throw new DomainError("not_found", "Nothing has such an id");
  const running = endpoint.run({ ...call, server, actors: resolveActors(principal, parts), parts });
  turn?.keepFor(running);
  return withDeadline(parts.clock, endpoint.deadlineMs, "The request", running);
}

/** Finds the endpoint of a path and runs it, for HTTP and for the Console's pages in the same process. */
import { DomainError } from "../accounts/errors.ts";
import type { Principal } from "../accounts/members/principal.ts";
import type { Turn } from "../accounts/quotas/fair-semaphore.ts";
import { withDeadline } from "../kernel/clock.ts";
import { resolveActors } from "./actor-resolver.ts";
import type { Endpoint, EndpointCall, Method } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";
import type { ControlParts } from "./parts.ts";

interface Call {
  principal: Principal;
  endpoint: Endpoint;
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
export async function runEndpoint(
  { principal, endpoint, server = null, turn, ...call }: Call,
  parts: ControlParts,
): Promise<unknown> {
  // PostgreSQL takes no NUL, and no id has one.
  if (call.id.includes("\u0000")) throw new DomainError("not_found", "Nothing has such an id");
  const running = endpoint.run({ ...call, server, actors: resolveActors(principal, parts), parts });
  turn?.keepFor(running);
  return withDeadline(parts.clock, endpoint.deadlineMs, "The request", running);
}

/** @param path below /api/console, such as `/keys/key-…/revoke` @throws DomainError not_found */
export function endpointAt(method: Method, path: string): { endpoint: Endpoint; id: string } {
  for (const endpoint of endpoints) {
    if (endpoint.method !== method) continue;
    const id = idIn(path, endpoint.path);
    if (id !== null) return { endpoint, id };
  }
  throw new DomainError("not_found", `There is no ${method} ${path} in the control API`);
}

/** @returns the value of `:id`, empty if the pattern has none; null: the path is another one */
function idIn(path: string, pattern: string): string | null {
  const parts = path.split("/");
  const expected = pattern.split("/");
  if (parts.length !== expected.length) return null;
  let id = "";
  for (const [index, part] of parts.entries()) {
    if (expected[index] === ":id") id = decodeURIComponent(part);
    else if (expected[index] !== part) return null;
  }
  return id;
}

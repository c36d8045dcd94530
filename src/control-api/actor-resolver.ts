/**
 * Resolves a request's principal to the actor in the workspace that the request concerns. A missing workspace, and one where the person
 * is not a member, get the same error, so that existing ones stay hidden; the same holds for resources found by an id. An admin's session
 * without a second factor gets no rights of that workspace.
 */
import type { Actor, Operator } from "../accounts/audit/actor.ts";
import { DomainError } from "../accounts/errors.ts";
import { sessionUseMs } from "../accounts/limits.ts";
import { updateSeen } from "../accounts/members/store.ts";
import { findActiveMember, lacksSecondFactor, type Person, type Principal } from "../accounts/members/principal.ts";
import { requireRecentSignIn } from "../accounts/sessions/session.ts";
import { findWorkspace } from "../accounts/workspaces/workspaces.ts";
import type { WorkspaceRow } from "../accounts/workspaces/store.ts";
import type { WorkspaceId } from "../kernel/ids.ts";
import type { ControlParts } from "./parts.ts";

export interface ActorResolver {
  /** Who sent the request. */
  principal: Principal;
  /** @param named id or name of the workspace */
  inWorkspace(named: string): Promise<{ actor: Actor; workspace: WorkspaceRow }>;
  /** The actor in the workspace of a resource that was found by its id. */
  forResource(resource: FoundResource): Promise<{ actor: Actor; workspace: WorkspaceRow }>;
  /** Like `inWorkspace`; without a name it means all workspaces, which only the operator may see. */
  inAnyWorkspace(named: string | undefined): Promise<{ actor: Actor; workspace: WorkspaceRow | null }>;
  /** The operator: no one else may do what concerns no workspace. @param action completes "Cannot …" */
  operator(action: string): Operator;
  /**
   * Refuses a session that was left open too long; a credential that comes with each request always passes.
   * @param action completes "Cannot …"
   * @throws DomainError sign_in_again
   */
  requireRecentSignIn(action: string): void;
}

interface FoundResource {
  /** The workspace that the request names. */
  named: string | undefined;
  /** The resource's workspace. */
  workspace: WorkspaceId;
  /** The error for an unknown id, also thrown if the person is not a member of the workspace, so that existing ids stay hidden. */
  unknown: DomainError;
}

type Sources = Pick<ControlParts, "sql" | "clock" | "oidc">;

export function resolveActors(principal: Principal, sources: Sources): ActorResolver {
  const inWorkspace: ActorResolver["inWorkspace"] = async (named) => {
    if (principal.kind === "operator") return { workspace: await findWorkspace(named, sources), actor: principal };
    if (principal.toolsKey !== undefined) await requireOwnWorkspace(named, principal.toolsKey, sources);
    return memberIn(named, principal, sources);
  };
  return {
    principal,
    inWorkspace,
    async forResource({ named, workspace, unknown }) {
      try {
        return await inWorkspace(named ?? workspace);
      } catch (error) {
        const isNoMember = named === undefined && error instanceof DomainError && error.code === "forbidden";
        throw isNoMember ? unknown : error;
      }
    },
    operator(action) {
      if (principal.kind === "operator") return principal;
      if (principal.operates) return { kind: "operator" };
      const message = `Cannot ${action} as "${principal.email}": only the operator may`;
      throw new DomainError("forbidden", message, { field: principal.namedBy });
    },
    requireRecentSignIn(action) {
      const { provedAt } = principal;
      if (provedAt !== undefined) requireRecentSignIn({ provedAt }, { nowMs: sources.clock.now(), action });
    },
    async inAnyWorkspace(named) {
      if (named !== undefined) return inWorkspace(named);
      if (principal.kind === "operator") return { actor: principal, workspace: null };
      const message = `Cannot act as "${principal.email}" without a workspace: a role is held in one workspace`;
      throw new DomainError("invalid_field", message, { field: "workspace" });
    },
  };
}

/** A missing workspace gets the same error as one that the key does not open. @throws DomainError forbidden */
async function requireOwnWorkspace(named: string, key: NonNullable<Person["toolsKey"]>, sources: Sources): Promise<void> {
  const found = await findWorkspace(named, sources).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === "not_found") return null;
    throw error;
  });
  if (found?.id === key.workspace) return;
  const message = `Cannot act in the workspace "${named}" with this tools key: it opens only the workspace in which it was made`;
  throw new DomainError("forbidden", message, { field: "workspace" });
}

/** @throws DomainError forbidden; sign_in_again for an admin's session without a second factor */
async function memberIn(named: string, person: Person, sources: Sources) {
  const { workspace, actor, seenAt } = await findMemberIn(named, person, sources);
  if (lacksSecondFactor(person, { role: actor.role, oidc: sources.oidc !== null })) {
    const message = `Cannot act as ${actor.role} without a second factor: set one up on the page of your account, or sign in again with it`;
    throw new DomainError("sign_in_again", message);
  }
  const nowMs = sources.clock.now();
  if (person.carriedBy === "session" && nowMs - (seenAt?.getTime() ?? 0) >= sessionUseMs)
    await updateSeen({ workspace: workspace.id, email: actor.email, at: new Date(nowMs) }, sources.sql);
  return { workspace, actor };
}

/** A missing workspace gets the same error as one where the person is not a member. */
async function findMemberIn(named: string, person: Person, sources: Sources) {
  try {
    const workspace = await findWorkspace(named, sources);
    return { workspace, ...(await findActiveMember(person, { workspace: workspace.id, sql: sources.sql })) };
  } catch (error) {
    const isHidden = error instanceof DomainError && (error.code === "not_found" || error.code === "forbidden");
    if (!isHidden) throw error;
    const message = `Cannot act as "${person.email}": no active member of the workspace "${named}" has the address`;
    throw new DomainError("forbidden", message, { field: person.namedBy });
  }
}

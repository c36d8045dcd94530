/**
 * The owner of a credential, and how a person becomes an actor. A person's role depends on the workspace, so they act only in one. An API
 * has a list of authenticators, one for each kind of credential, and takes the first result.
 */
import type { Queries } from "../../backing/backing.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { type MemberActor, type Operator, type Role, managers } from "../audit/actor.ts";
import { DomainError } from "../errors.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { selectMembers } from "./store.ts";

export type Principal = (Operator & Proof) | Person;

interface Proof {
  /** When the person of a session last proved who they are; absent: the credential proves it with each request. */
  provedAt?: Date;
  /** Whether the session also proves a second factor; absent as above. */
  bothFactors?: boolean;
}

/** A person becomes an actor only in a workspace, since their role depends on it. */
export interface Person extends Proof {
  kind: "person";
  email: string;
  /** The credential, as the audit log names it. */
  carriedBy: MemberActor["carriedBy"];
  /** The tools key that carries it: it opens one workspace, and a part of the control API. */
  toolsKey?: { id: KeyId; workspace: WorkspaceId };
  /** Whether the session acts as the operator too, where only the operator may act. */
  operates?: boolean;
  /** The header or field that names the person, as error messages call it; absent: the credential names them. */
  namedBy?: string;
}

/** @throws DomainError forbidden if the person is not an active member of the workspace, or the account is not active */
export async function memberActor(
  person: Person,
  { workspace, sql }: { workspace: WorkspaceId; sql: Queries },
): Promise<MemberActor> {
  return (await findActiveMember(person, { workspace, sql })).actor;
}

/** The actor, and when the person last used the workspace in the Console. @throws DomainError as `memberActor` does */
export async function findActiveMember(
  { email, carriedBy, namedBy }: Person,
  { workspace, sql }: { workspace: WorkspaceId; sql: Queries },
): Promise<{ actor: MemberActor; seenAt: Date | null }> {
  const [row] = await selectMembers({ workspace, email: canonicalEmail(email) }, sql);
  if (row?.active && row.account === "active")
    return { actor: { kind: "member", email: row.email, role: row.role, carriedBy }, seenAt: row.seenAt };
  const message =
    namedBy === "owner"
      ? `"${email}" is not an active member of this workspace: weir member add makes the person one`
      : `Cannot act as "${email}": no active member of this workspace has the address`;
  throw new DomainError("forbidden", message, { field: namedBy });
}

/**
 * Whether a role waits for a second factor. Meanwhile an admin's session keeps its rights in other workspaces.
 * @param oidc whether an OpenID Connect provider is configured, which is then responsible for second factors
 */
export function lacksSecondFactor({ bothFactors }: Proof, { role, oidc }: { role: Role | "operator"; oidc: boolean }): boolean {
  return bothFactors === false && !oidc && role !== "operator" && managers.includes(role);
}

/** Finds the principal of a request by one kind of credential. An API has a list of them, and takes the first result. */
export interface Authenticator {
  /**
   * @param address of the connection's other end; null: unknown
   * @returns null if the request has no credential of this kind
   * @throws DomainError unauthorized, rate_limited for a wrong credential
   */
  authenticate(request: Request, address: string | null): Promise<Principal | null>;
}

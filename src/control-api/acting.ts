/** In whose name a request is made: the operator's, or that of the member whom `X-Act-As` names. */
import type { Actor, Operator } from "../accounts/audit/actor.ts";
import type { WorkspaceId } from "../kernel/ids.ts";
import { actAs } from "../accounts/workspaces/act.ts";
import { DomainError } from "../accounts/errors.ts";
import { findWorkspace } from "../accounts/workspaces/find.ts";
import type { WorkspaceRow } from "../accounts/workspaces/store.ts";
import type { ControlParts } from "./parts.ts";

export interface Acting {
  /** The actor in a workspace that the request names by id or name. */
  in(named: string): Promise<{ actor: Actor; workspace: WorkspaceRow }>;
  /** As `in`, for a thing that was found by its id. */
  around(thing: Thing): Promise<{ actor: Actor; workspace: WorkspaceRow }>;
  /** As `in`; without a name every workspace, which only the operator sees. */
  inAny(named: string | undefined): Promise<{ actor: Actor; workspace: WorkspaceRow | null }>;
  /** The operator, for what concerns no workspace. `action` completes "Cannot …". */
  operator(action: string): Operator;
}

export interface Thing {
  /** The workspace that the request names. */
  named: string | undefined;
  /** The one that the thing is in. */
  workspace: WorkspaceId;
  /** What an unknown id is answered: so is that of a workspace where the one who asks is nobody, for which ids there are is not told. */
  unknown: DomainError;
}

/** @param email of `X-Act-As`; null: the operator acts */
export function acting(email: string | null, { sql, clock }: Pick<ControlParts, "sql" | "clock">): Acting {
  const inNamed: Acting["in"] = async (named) => {
    if (email === null) return { workspace: await findWorkspace(named, { sql, clock }), actor: { kind: "operator" } };
    return asMember({ named, email }, { sql, clock });
  };
  return {
    in: inNamed,
    async around({ named, workspace, unknown }) {
      try {
        return await inNamed(named ?? workspace);
      } catch (error) {
        const isStranger = named === undefined && error instanceof DomainError && error.code === "forbidden";
        throw isStranger ? unknown : error;
      }
    },
    operator(action) {
      if (email === null) return { kind: "operator" };
      throw new DomainError("forbidden", `Cannot ${action} as "${email}": it is left to the operator`, { field: "X-Act-As" });
    },
    async inAny(named) {
      if (named !== undefined) return inNamed(named);
      if (email === null) return { actor: { kind: "operator" }, workspace: null };
      throw new DomainError("invalid_field", `Cannot act as "${email}" without a workspace: a role is held in one workspace`, {
        field: "workspace",
      });
    },
  };
}

/** A workspace that there is not is answered like one where the person is nobody: which ones there are is not told. */
async function asMember(
  { named, email }: { named: string; email: string },
  { sql, clock }: Pick<ControlParts, "sql" | "clock">,
): Promise<{ actor: Actor; workspace: WorkspaceRow }> {
  try {
    const workspace = await findWorkspace(named, { sql, clock });
    return { workspace, actor: await actAs({ workspace: workspace.id, email, field: "X-Act-As" }, sql) };
  } catch (error) {
    const isHidden = error instanceof DomainError && (error.code === "not_found" || error.code === "forbidden");
    if (!isHidden) throw error;
    const message = `Cannot act as "${email}": no active member of the workspace "${named}" has the address`;
    throw new DomainError("forbidden", message, { field: "X-Act-As" });
  }
}

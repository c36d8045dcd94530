/** In whose name a request is made: the operator's, or that of the member whom `X-Act-As` names. */
import type { Actor, Operator } from "../audit/actor.ts";
import { actAs } from "../workspaces/act.ts";
import { ControlError } from "../workspaces/control-error.ts";
import { findWorkspace } from "../workspaces/find.ts";
import type { WorkspaceRow } from "../workspaces/store.ts";
import type { ControlParts } from "./parts.ts";

export interface Acting {
  /** The actor in a workspace that the request names by id or name. */
  in(named: string): Promise<{ actor: Actor; workspace: WorkspaceRow }>;
  /** As `in`; without a name every workspace, which only the operator sees. */
  inAny(named: string | undefined): Promise<{ actor: Actor; workspace: WorkspaceRow | null }>;
  /** The operator, for what concerns no workspace. `action` completes "Cannot …". */
  operator(action: string): Operator;
}

/** @param email of `X-Act-As`; null: the operator acts */
export function acting(email: string | null, { sql, clock }: Pick<ControlParts, "sql" | "clock">): Acting {
  const inNamed: Acting["in"] = async (named) => {
    const workspace = await findWorkspace(named, { sql, clock });
    if (email === null) return { workspace, actor: { kind: "operator" } };
    return { workspace, actor: await actAs({ workspace: workspace.id, email, field: "X-Act-As" }, sql) };
  };
  return {
    in: inNamed,
    operator(action) {
      if (email === null) return { kind: "operator" };
      throw new ControlError("forbidden", {
        field: "X-Act-As",
        message: `Cannot ${action} as "${email}": it is left to the operator`,
      });
    },
    async inAny(named) {
      if (named !== undefined) return inNamed(named);
      if (email === null) return { actor: { kind: "operator" }, workspace: null };
      throw new ControlError("invalid_field", {
        field: "workspace",
        message: `Cannot act as "${email}" without a workspace: a role is held in one workspace`,
      });
    },
  };
}

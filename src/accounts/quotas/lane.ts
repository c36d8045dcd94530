/**
 * To whom a body or a turn is counted: first a workspace, then a person in it. Naming a workspace is not enough: only its members get its
 * lane. A sender who is not known yet is counted under the network of their address.
 */
import { selectLaneWorkspace } from "../members/store.ts";
import type { Principal } from "../members/principal.ts";
import type { Queries } from "../../backing/backing.ts";
import { canonicalEmail } from "../workspaces/fields.ts";

export interface Lane {
  /** A workspace; the network of a sender who is not known yet; or the operator. */
  group: string;
  /** A person or a key; all sessions of a person are one member. */
  member: string;
}

const operatorGroup = "operator";
/** People who were removed from every workspace share one lane; otherwise each of them would count as a workspace. */
const noWorkspaceGroup = "no workspace";

export function isOperatorLane({ group }: Lane): boolean {
  return group === operatorGroup;
}

export const operatorLane: Lane = { group: operatorGroup, member: operatorGroup };

/** The lane of a sender who is not known yet. */
export function networkLane(network: string): Lane {
  return { group: `network ${network}`, member: `network ${network}` };
}

export function memberLane(email: string, workspace: string): Lane {
  return { group: `workspace ${workspace}`, member: email };
}

/**
 * The lane of a signed-in person: the named workspace if they are a member of it, else the one that they joined first. A key has a lane of
 * its own, so that builds do not delay its owner.
 * @param named a workspace's id or name
 */
export async function laneOf(principal: Principal, named: string | null, sql: Queries): Promise<Lane> {
  if (principal.kind === "operator") return operatorLane;
  if (principal.toolsKey !== undefined) return memberLane(principal.toolsKey.id, principal.toolsKey.workspace);
  const email = canonicalEmail(principal.email);
  const workspace = await selectLaneWorkspace({ email, named: (named ?? "").replaceAll("\u0000", "") }, sql);
  return workspace === undefined ? { group: noWorkspaceGroup, member: email } : memberLane(email, workspace);
}

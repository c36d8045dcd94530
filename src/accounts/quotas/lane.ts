/** For whom a body or a turn counts: first a workspace, then a person in it. */
import { selectLaneWorkspace } from "../members/store.ts";
import type { Principal } from "../members/principal.ts";
import type { Queries } from "../../backing/backing.ts";
import { canonicalEmail } from "../workspaces/fields.ts";

export interface Lane {
  /** A workspace; the network of an address where nobody is known yet; or the operator. */
  group: string;
  /** A person or a key; more sessions of a person are one member. */
  member: string;
}

const operatorGroup = "operator";
/** People who were removed from every workspace share one lane, or each of them would be a workspace of its own. */
const noWorkspaceGroup = "no workspace";

export function isOperatorLane({ group }: Lane): boolean {
  return group === operatorGroup;
}

export const operatorLane: Lane = { group: operatorGroup, member: operatorGroup };

/** Where nobody is known yet. */
export function networkLane(network: string): Lane {
  return { group: `network ${network}`, member: `network ${network}` };
}

export function memberLane(email: string, workspace: string): Lane {
  return { group: `workspace ${workspace}`, member: email };
}

/**
 * The lane of whoever has signed in: the named workspace if the person is a member of it, else the one that they joined first. A name
 * alone opens no other lane.
 * @param named a workspace's id or name
 */
export async function laneOf(principal: Principal, named: string | null, sql: Queries): Promise<Lane> {
  if (principal.kind === "operator") return operatorLane;
  const email = canonicalEmail(principal.email);
  const workspace = await selectLaneWorkspace({ email, named: (named ?? "").replaceAll("\u0000", "") }, sql);
  return workspace === undefined ? { group: noWorkspaceGroup, member: email } : memberLane(email, workspace);
}

/**
 * Creates what a new service needs to be tried: if there is no workspace, one named `default` with 10 USD, its owner, and a key of each
 * kind. All of it is one transaction, and it happens once even if several processes start together. The full keys are only in its
 * result. Who tries Weir in one process sees all that it offers; in a fleet, the operator decides about early access.
 */
import type { MemberActor, Service } from "../accounts/audit/actor.ts";
import type { Database } from "../backing/backing.ts";
import { openWorkspace } from "../gateway/credit/credit.ts";
import type { Clock } from "../kernel/clock.ts";
import type { WorkspaceId } from "../kernel/ids.ts";
import { createKey } from "../accounts/keys/keys.ts";
import { addMember } from "../accounts/members/members.ts";
import { anyWorkspace, lockWorkspaces } from "../accounts/workspaces/store.ts";
import { setWorkspace, type EarlyAccessFeature } from "../accounts/workspaces/workspaces.ts";

const actor: Service = { kind: "service" };
/** The owner of the first workspace. */
export const firstOwner = "owner@localhost";
const owner: MemberActor = { kind: "member", email: firstOwner, role: "super_admin", carriedBy: "first start" };

export interface FirstStart {
  workspace: WorkspaceId;
  /** For the inference API. */
  key: string;
  /** For the tools API. */
  toolsKey: string;
}

/** @returns the workspace and the full keys, which are shown only now; null: a workspace exists */
export async function firstStart({
  sql,
  clock,
  slug,
  earlyAccess = [],
}: {
  sql: Database;
  clock: Clock;
  slug: string;
  earlyAccess?: readonly EarlyAccessFeature[];
}): Promise<FirstStart | null> {
  if (await anyWorkspace(sql)) return null;
  return sql.begin(async (tx) => {
    await lockWorkspaces(tx);
    if (await anyWorkspace(tx)) return null;
    const sources = { sql: tx, clock, slug };
    const workspace = await openWorkspace({ actor, form: { name: "default", credit_usd: "10" }, ref: "first start" }, sources);
    if (earlyAccess.length > 0) await setWorkspace({ actor, workspace, settings: { early_access: [...earlyAccess] } }, sources);
    await addMember({ actor, workspace, member: { email: owner.email, role: owner.role } }, sources);
    const { key } = await createKey({ actor: owner, workspace, form: { name: "first key" } }, sources);
    const tools = await createKey({ actor: owner, workspace, form: { name: "first tools key", kind: "tools" } }, sources);
    return { workspace, key, toolsKey: tools.key };
  });
}

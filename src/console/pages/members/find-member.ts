import type { KeyView } from "../../../accounts/keys/schema.ts";
import { overseers } from "../../../accounts/workspaces/authorize.ts";
import type { ListedMember } from "../../../accounts/workspaces/schema.ts";
import { DomainError } from "../../../accounts/errors.ts";
import type { PageCall } from "../../page.ts";

/** The path of a member, in the control API and in the Console. */
export function memberPath(email: string): string {
  return `/members/${encodeURIComponent(email)}`;
}

/** The member of the address. @throws DomainError not_found */
export async function findMember(call: PageCall): Promise<ListedMember> {
  const email = call.params["id"] ?? "";
  const { data } = await call.control<{ data: ListedMember[] }>("GET", "/members", { email });
  const [member] = data;
  if (member) return member;
  throw new DomainError("not_found", `There is no member "${email.slice(0, 254)}" in this workspace`);
}

/** Their active keys here; none where the viewer may not see them. */
export async function keysOf({ email }: ListedMember, call: PageCall): Promise<KeyView[]> {
  const { role } = call.workspace;
  if (role !== "operator" && !overseers.includes(role) && email !== call.viewer.email) return [];
  const { data } = await call.control<{ data: KeyView[] }>("GET", "/keys", { owner: email });
  return data;
}

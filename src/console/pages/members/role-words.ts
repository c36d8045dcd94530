/** Roles in words, in the order of what they may do. */
import type { Role } from "../../../accounts/audit/actor.ts";
import { managers } from "../../../accounts/workspaces/authorize.ts";
import type { PageCall } from "../../page.ts";
import { reasonAgainst } from "./member-rights.ts";

interface RoleChoice {
  value: Role;
  label: string;
  hint: string;
}

const all: readonly RoleChoice[] = [
  { value: "member", label: "Member", hint: "Creates keys, and sees their own keys and requests." },
  { value: "auditor", label: "Auditor", hint: "Sees all keys, requests and changes of the workspace, and changes nothing." },
  { value: "admin", label: "Admin", hint: "Manages members, settings, all keys and connections." },
  { value: "super_admin", label: "Super admin", hint: "Does what an admin does, and manages super admins." },
];

/** The roles that the viewer may give. @param adds without a recent sign-in no admins are added */
export function roleChoices(call: PageCall, { email, adds }: { email: string; adds: "everyone" | "no admins" }): RoleChoice[] {
  return all.filter(({ value }) => {
    if (adds === "no admins" && managers.includes(value)) return false;
    return reasonAgainst(call, { email, roles: [value], action: "add a member" }) === null;
  });
}

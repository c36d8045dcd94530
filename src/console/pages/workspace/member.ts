/**
 * What the members' pages share: finding a member, who may do what to whom by the rule that the endpoints use, and roles and states in
 * words.
 */
import { type Actor, type Role, overseers, managers } from "../../../accounts/audit/actor.ts";
import { DomainError } from "../../../accounts/errors.ts";
import type { KeyView } from "../../../accounts/keys/schema.ts";
import { requireRightOver } from "../../../accounts/members/members.ts";
import type { ListedMember } from "../../../accounts/workspaces/schema.ts";
import { keyEndpoints } from "../../../control-api/endpoints/keys.ts";
import { memberEndpoints } from "../../../control-api/endpoints/members.ts";
import type { Html } from "../../../http/html.ts";
import { badge, type Tone } from "../../look/parts.ts";
import type { PageCall } from "../../page.ts";
import { roleName } from "../../viewer.ts";

/** The path of a member, in the control API and in the Console. */
export function memberPath(email: string): string {
  return `/members/${encodeURIComponent(email)}`;
}

/** The member of the address. @throws DomainError not_found */
export async function findMember(call: PageCall): Promise<ListedMember> {
  const email = call.params["id"] ?? "";
  const { data } = await call.control(memberEndpoints.list, { email });
  const [member] = data;
  if (member) return member;
  throw new DomainError("not_found", `There is no member "${email.slice(0, 254)}" in this workspace`);
}

/** How many of a member's keys pages name; further ones are counted. */
const keysNamed = 20;

/** The first active keys of a member in this workspace; none if the viewer may not see them. */
export async function keysOf({ email }: ListedMember, call: PageCall): Promise<KeyView[]> {
  const { role } = call.workspace;
  if (role !== "operator" && !overseers.includes(role) && email !== call.viewer.email) return [];
  const { data } = await call.control(keyEndpoints.list, { owner: email, limit: String(keysNamed) });
  return data;
}

// What the viewer may do to a member, by the rule that the endpoints use.

/** @param email empty: they would be invited @param action completes "Cannot …" @returns null: they may; otherwise why not, as a sentence */
export function reasonAgainst(
  call: PageCall,
  { email, roles, action }: { email: string; roles: readonly Role[]; action: string },
): string | null {
  try {
    requireRightOver({ actor: actorOf(call), email, roles, action });
    return null;
  } catch (error) {
    if (error instanceof DomainError) return reasonOf(call, email);
    throw error;
  }
}

function reasonOf({ viewer, workspace: { role } }: PageCall, email: string): string {
  if (role !== "operator" && !managers.includes(role))
    return `Only admins ${email === "" ? "invite" : "change"} members. Your role is ${roleName(role).toLowerCase()}.`;
  return viewer.email === email ? "You cannot change your own membership." : "Only a super admin changes a super admin.";
}

function actorOf({ viewer, workspace: { role } }: PageCall): Actor {
  if (role === "operator" || viewer.email === null) return { kind: "operator" };
  return { kind: "member", email: viewer.email, role, carriedBy: "session" };
}

// Roles in words, in the order of what they may do.

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

/** The roles that the viewer may give. @param adds `no admins` without a recent sign-in */
export function roleChoices(call: PageCall, { email, adds }: { email: string; adds: "everyone" | "no admins" }): RoleChoice[] {
  return all.filter(({ value }) => {
    if (adds === "no admins" && managers.includes(value)) return false;
    return reasonAgainst(call, { email, roles: [value], action: "add a member" }) === null;
  });
}

const tones: Record<string, Tone> = {
  active: "good",
  pending: "warn",
  declined: "neutral",
  withdrawn: "neutral",
  deactivated: "neutral",
  suspended: "warn",
  locked: "warn",
  deleted: "bad",
};

/** @param state of a member, as the control API has it */
export function memberState(state: string): Html {
  return badge(tones[state] ?? "neutral", state === "pending" ? "invited" : state);
}

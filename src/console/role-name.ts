import type { ViewerRole } from "./viewer.ts";

const words: Record<ViewerRole, string> = {
  member: "Member",
  auditor: "Auditor",
  admin: "Admin",
  super_admin: "Super admin",
  operator: "Operator",
};

/** A role in words. */
export function roleName(role: ViewerRole): string {
  return words[role];
}

/** A page that the viewer's role may not see. */
import { DomainError } from "../accounts/errors.ts";
import type { Page, PageCall } from "./page.ts";
import { roleName } from "./role-name.ts";

type Refused = Pick<PageCall, "workspace" | "viewer"> & { page: Page };

/** Keeps what the viewer was about to see, so that the error's page has their menu. */
export class RoleNeededError extends DomainError {
  readonly refused: Refused;
  /** Such as "auditor or admin"; null: the operator alone sees the page. */
  readonly needed: string | null;

  constructor(refused: Refused) {
    const needed = rolesOf(refused.page);
    super("forbidden", needed === null ? "Only the operator sees this page" : `This page requires the role ${needed}`);
    this.refused = refused;
    this.needed = needed;
  }
}

function rolesOf({ of, roles }: Page): string | null {
  if (of === "operator" || roles.length === 0) return null;
  // A super admin may do what an admin may.
  const least = roles.filter((role) => role !== "super_admin" || roles.length === 1);
  return least.map((role) => roleName(role).toLowerCase()).join(" or ");
}

import { DomainError } from "../../accounts/errors.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";

export interface KeyedWorkspace {
  id: WorkspaceId;
  earlyAccess: string[];
}

/** @throws DomainError conflict where own keys are off: stored ones stay, and are not used */
export function requireSwitchedOn({ earlyAccess }: KeyedWorkspace): void {
  if (earlyAccess.includes("own_keys")) return;
  throw new DomainError(
    "conflict",
    "Own provider keys are not switched on for the workspace: set early_access to own_keys first",
  );
}

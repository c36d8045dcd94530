import { DomainError } from "../../accounts/errors.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";

export interface StatementWorkspace {
  id: WorkspaceId;
  name: string;
  earlyAccess: string[];
}

/** Statements close in every workspace, so that one that switches them on has those of before. @throws DomainError not_found */
export function requireStatements({ earlyAccess }: StatementWorkspace): void {
  if (earlyAccess.includes("usage_statements")) return;
  throw new DomainError(
    "not_found",
    "Usage statements are not switched on for the workspace: the operator adds usage_statements to early_access",
  );
}

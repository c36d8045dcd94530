import type { OperationParts } from "../operations/operation.ts";
import type { DiskSpaceGuard } from "../../../accounts/quotas/disk-space-guard.ts";
import type { AttachmentFolder } from "../../tickets/attachment-folder.ts";
import type { CallLimits } from "./call-limits.ts";

/** What the tools API works with. */
export interface ToolsParts extends OperationParts {
  /** The service's own name, with which operations and keys begin. */
  slug: string;
  /** null: this service takes text only. */
  attachments: AttachmentFolder | null;
  limits: CallLimits;
  disk: Pick<DiskSpaceGuard, "require">;
}

import type { OperationParts } from "../operations/operation.ts";
import type { DiskSpaceGuard } from "../../../accounts/quotas/disk-space-guard.ts";
import type { AttachmentFolder } from "../../tickets/attachment-folder.ts";
import type { CallLimits } from "./call-limits.ts";

/** The parts that the tools API uses. */
export interface ToolsParts extends OperationParts {
  /** The service's name, the beginning of operations and keys. */
  slug: string;
  /** null: this service accepts no attachments. */
  attachments: AttachmentFolder | null;
  limits: CallLimits;
  disk: Pick<DiskSpaceGuard, "require">;
}

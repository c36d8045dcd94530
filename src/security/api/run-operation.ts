/**
 * Runs an operation for a caller, whether it came over HTTP or MCP. The work holds its slot until it ends, even if its caller has stopped
 * waiting, so slots bound what is really running. It never rejects: every error becomes an answer.
 */
import type { DiskSpaceGuard } from "../../accounts/quotas/disk-space-guard.ts";
import type { ReleaseSlot } from "../../accounts/quotas/fair-semaphore.ts";
import { withDeadline } from "../../kernel/clock.ts";
import type { Caller, Operation, OperationParts } from "../operation.ts";
import type { SbomResult } from "../sboms/sbom-field.ts";
import type { AttachmentFolder } from "../tickets/attachment-folder.ts";
import type { CallLimits } from "./call-limits.ts";
import { type CallAnswer, errorAnswer } from "./envelope.ts";

export interface OperationRequest {
  operation: Operation;
  input: Record<string, unknown>;
  caller: Caller;
  /** See `OperationCall`. */
  isForMcp: boolean;
  attachment: string | null;
  sbom: SbomResult | null;
  /** The slot that the call already holds. */
  release: ReleaseSlot | null;
}

/** Never rejects. */
export async function runOperation(request: OperationRequest, parts: ToolsParts): Promise<CallAnswer> {
  try {
    const { ended } = await begin(request, parts);
    const { data, message } = await withDeadline(parts.clock, request.operation.deadlineMs, "The operation", ended);
    return { status: 200, body: { success: true, data, message } };
  } catch (error) {
    return errorAnswer(error, parts.log);
  }
}

/** The dependencies of the tools API. */
export interface ToolsParts extends OperationParts {
  /** The service's name, with which operations and keys begin. */
  slug: string;
  /** null: this service accepts no attachments. */
  attachments: AttachmentFolder | null;
  limits: CallLimits;
  /** Origins whose pages may call `/mcp`, besides those of this machine, in lower case. */
  mcpOrigins: readonly string[];
  disk: Pick<DiskSpaceGuard, "require">;
}

/** A request with a valid key within its rate limit. */
export interface AuthenticatedCall {
  request: Request;
  caller: Caller;
  /** Counts further calls against the key if a request costs more than an ordinary one. */
  charge(calls: number): void;
}

/** Starts once the caller gets a slot, and holds the slot until the work ends, even if its caller has gone. @throws LimitReachedError */
async function begin(
  { operation, release: held, ...call }: OperationRequest,
  parts: ToolsParts,
): Promise<{ ended: ReturnType<Operation["run"]> }> {
  const release = held ?? (await parts.limits.acquire(operation, call.caller));
  return { ended: operation.run({ ...call, parts }).finally(release) };
}

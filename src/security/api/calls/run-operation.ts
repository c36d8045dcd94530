/** Runs an operation for a caller, however it was called: over HTTP or MCP. */
import { withDeadline } from "../../../kernel/clock.ts";
import type { Caller } from "../operations/caller.ts";
import type { Operation } from "../operations/operation.ts";
import type { ReleaseSlot } from "../../../accounts/quotas/fair-semaphore.ts";
import type { SbomResult } from "../../sboms/reader/parse-sbom-field.ts";
import type { CallAnswer } from "./envelope.ts";
import { errorAnswer } from "./error-answer.ts";
import type { ToolsParts } from "./parts.ts";

export interface OperationRequest {
  operation: Operation;
  input: Record<string, unknown>;
  caller: Caller;
  /** See `OperationCall`. */
  isForMcp: boolean;
  attachment: string | null;
  sbom: SbomResult | null;
  /** The slot that the call holds already. */
  release: ReleaseSlot | null;
}

/** Starts once the caller gets a slot, and holds the slot until the work ends, even if no one waits for it. @throws LimitReachedError */
async function begin(
  { operation, release: held, ...call }: OperationRequest,
  parts: ToolsParts,
): Promise<{ ended: ReturnType<Operation["run"]> }> {
  const release = held ?? (await parts.limits.acquire(operation, call.caller));
  return { ended: operation.run({ ...call, parts }).finally(release) };
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

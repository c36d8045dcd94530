/** Runs an operation for a caller: the one way to an answer, from whichever door. */
import { DeadlineError, withDeadline } from "../../../kernel/clock.ts";
import type { Logger } from "../../../kernel/log.ts";
import type { Caller } from "../operations/caller.ts";
import { DomainError } from "../../../accounts/errors.ts";
import type { Operation } from "../operations/operation.ts";
import type { ReleaseSlot } from "../../../accounts/quotas/fair-semaphore.ts";
import { LimitReachedError } from "../../../accounts/quotas/limit-reached.ts";
import { SbomRefusal } from "../../sboms/refusal.ts";
import type { SbomResult } from "../../sboms/reader/parse-sbom-field.ts";
import { failure, limitReached, type Answer } from "./envelope.ts";
import type { ToolsParts } from "./parts.ts";

export interface OperationRequest {
  operation: Operation;
  input: Record<string, unknown>;
  caller: Caller;
  attachment: string | null;
  sbom: SbomResult | null;
  /** The call's turn, where it has it already. */
  release: ReleaseSlot | null;
}

/** Begins when it is the caller's turn; the turn ends when the work does, whoever waits for it. @throws LimitReachedError */
async function begin(
  { operation, release: has, ...call }: OperationRequest,
  parts: ToolsParts,
): Promise<{ ended: ReturnType<Operation["run"]> }> {
  const release = has ?? (await parts.limits.acquire(operation, call.caller));
  return { ended: operation.run({ ...call, parts }).finally(release) };
}

/** Never rejects. */
export async function runOperation(asked: OperationRequest, parts: ToolsParts): Promise<Answer> {
  try {
    const { ended } = await begin(asked, parts);
    const { data, message } = await withDeadline(parts.clock, asked.operation.deadlineMs, "The operation", ended);
    return { status: 200, body: { success: true, data, message } };
  } catch (error) {
    return refuse(error, parts.log);
  }
}

/** Connection lost or refused, and statements that PostgreSQL gave up: the same call may succeed later. */
const passing = /^(CONNECT|ECONN|57014|57P0|55P03|40001|40P01|53)/;

/** Whatever a call ran into, as an answer: what the caller has to change, or that it is our fault. */
export function refuse(error: unknown, log: Logger): Answer {
  if (error instanceof DomainError || error instanceof SbomRefusal) {
    return failure(400, error.message);
  }
  if (error instanceof LimitReachedError) return limitReached(error);
  const cause = error instanceof Error ? error : new Error(String(error));
  const code = "code" in cause ? String(cause.code) : "";
  log.error({ event: "tools.failed", name: cause.name, code, stack: cause.stack }, "A call of the tools API failed");
  if (error instanceof DeadlineError || passing.test(code)) {
    return failure(500, "The database did not answer; whether a change was made is not known, so look before trying again");
  }
  return failure(500, "An unexpected error occurred");
}

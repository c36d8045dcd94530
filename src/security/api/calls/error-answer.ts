/** Any error as an answer: what the caller has to change, when to call again, or a fault of the service. */
import { DomainError } from "../../../accounts/errors.ts";
import { LimitReachedError } from "../../../accounts/quotas/limit-reached.ts";
import { MethodNotAllowedError } from "../../../http/router.ts";
import { DeadlineError } from "../../../kernel/clock.ts";
import type { Logger } from "../../../kernel/log.ts";
import { SbomRefusal } from "../../sboms/refusal.ts";
import { failure, limitReached, type Answer } from "./envelope.ts";

/** Connection lost or refused, and statements that PostgreSQL gave up: the same call may succeed later. */
const passing = /^(CONNECT|ECONN|57014|57P0|55P03|40001|40P01|53)/;

export function errorAnswer(error: unknown, log: Logger): Answer {
  if (error instanceof MethodNotAllowedError) {
    const { method, path, allowed, headers } = error;
    return { ...failure(405, `Cannot ${method} ${path}: it takes ${allowed.join(" and ")}`), headers };
  }
  if (error instanceof DomainError) return failure(error.code === "unauthorized" ? 401 : 400, error.message);
  if (error instanceof SbomRefusal) return failure(400, error.message);
  if (error instanceof LimitReachedError) return limitReached(error);
  const cause = error instanceof Error ? error : new Error(String(error));
  const code = "code" in cause ? String(cause.code) : "";
  log.error({ event: "tools.failed", name: cause.name, code, stack: cause.stack }, "A call of the tools API failed");
  if (error instanceof DeadlineError || passing.test(code)) {
    return failure(500, "The database did not answer; whether a change was made is not known, so look before trying again");
  }
  return failure(500, "An unexpected error occurred");
}

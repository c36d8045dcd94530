/** Turns any error into an answer: what to change, when to call again, or a fault of the service. */
import { DomainError } from "../../../accounts/errors.ts";
import { unexpectedError } from "../../../accounts/unexpected-error.ts";
import { LimitReachedError } from "../../../accounts/quotas/limit-reached.ts";
import { MethodNotAllowedError } from "../../../http/router.ts";
import type { Logger } from "../../../kernel/log.ts";
import { SbomRefusal } from "../../sboms/refusal.ts";
import { failure, limitReached, type CallAnswer } from "./envelope.ts";

export function errorAnswer(error: unknown, log: Logger): CallAnswer {
  if (error instanceof MethodNotAllowedError) {
    const { method, path, allowed, headers } = error;
    return { ...failure(405, `Cannot ${method} ${path}: it takes ${allowed.join(" and ")}`), headers };
  }
  if (error instanceof DomainError) return failure(error.code === "unauthorized" ? 401 : 400, error.message);
  if (error instanceof SbomRefusal) return failure(400, error.message);
  if (error instanceof LimitReachedError) return limitReached(error);
  return failure(500, unexpectedError(error, { log, event: "tools.failed" }).message);
}

import { DeadlineError } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { DomainError } from "./errors.ts";

/** Connection lost or refused, statements that PostgreSQL cancelled, and a standby in its place: the same request may succeed later. */
const transient = /^(CONNECT|ECONN|08|25006|57014|57P0|55P03|40001|40P01|53)/;

/** Logs an error that is no DomainError. @returns the error for the answer: unavailable, or internal_error without the cause */
export function unexpectedError(error: unknown, { log, event }: { log: Logger; event: string }): DomainError {
  const cause = error instanceof Error ? error : new Error(String(error));
  const code = "code" in cause ? String(cause.code) : "";
  log.error({ event, name: cause.name, code, stack: cause.stack }, "A request failed unexpectedly");
  if (!(error instanceof DeadlineError || transient.test(code))) {
    return new DomainError("internal_error", "An unexpected error occurred");
  }
  const message = "The database did not answer; whether a change was made is not known, so look before trying again";
  return new DomainError("unavailable", message);
}

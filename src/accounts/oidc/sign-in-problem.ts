import { DeadlineError } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { DomainError } from "../errors.ts";
import { LimitReachedError } from "../quotas/limit-reached.ts";
import { ProviderUnavailableError } from "./oidc-fetch.ts";

/** Logs a failure at the provider by its code alone. @returns the error for the person: unavailable, or unauthorized without the cause */
export function signInProblem(error: unknown, { name, log }: { name: string; log: Logger }): Error {
  if (error instanceof DomainError || error instanceof LimitReachedError) return error;
  const isAway = [error, causeOf(error)].some((one) => one instanceof ProviderUnavailableError || one instanceof DeadlineError);
  log.warn({ event: "oidc.failed", reason: reasonOf(error), away: isAway }, "A sign-in with the OpenID Connect provider failed");
  if (isAway) return new DomainError("unavailable", `${name} cannot be reached at present: try again shortly`);
  return new DomainError("unauthorized", `Signing in with ${name} did not succeed: begin again`);
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : null;
}

/** Codes come from closed sets of the package and of RFC 6749; its messages may hold what the provider sent. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const words = [
    error.name,
    ...("code" in error ? [String(error.code)] : []),
    ...("error" in error ? [String(error.error)] : []),
  ];
  return words
    .join(" ")
    .replaceAll(/[^\w .-]/g, "")
    .slice(0, 100);
}

/**
 * The code of an error that a system or a library threw: such as ENOENT, or the SQLSTATE of a statement (PostgreSQL's appendix A). Callers
 * decide by the code and never by the message, whose wording changes between versions and may quote its input. Weir's own errors have
 * types.
 */

/** Empty: it has none, or something other than an error was thrown. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** The command line is wrong: exit code 2, and nothing was sent. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** Why a file, an archive or an entry cannot be read further; the message follows its name: "all.zip ends before …". */
export class UnreadableError extends Error {
  override name = "UnreadableError";
}

/** The archive exceeds its budget and is not read further. */
export class BudgetError extends UnreadableError {
  override name = "BudgetError";
}

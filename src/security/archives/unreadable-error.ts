/** Why a file, an archive or one of its entries cannot be read on; the words follow its name: "all.zip ends before …". */
export class UnreadableError extends Error {
  override name = "UnreadableError";
}

/** An archive that would become too much: nothing more of it is read. */
export class BudgetError extends UnreadableError {
  override name = "BudgetError";
}

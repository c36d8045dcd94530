/** What the caller has to change: answered with status 400. @param message a sentence that says what to change, without a period */
export class OperationError extends Error {
  override name = "OperationError";
}

import { ControlError } from "../../accounts/errors.ts";

/** Why a repository is not imported: a sentence that says what to change. */
export class RepositoryError extends ControlError {
  override name = "RepositoryError";

  constructor(message: string) {
    super("invalid_field", { field: null, message });
  }
}

import { DomainError } from "../../accounts/errors.ts";

/** The same sentence for an id that nobody has and one of another workspace. */
export function findingNotFound(id: string): DomainError {
  return new DomainError("not_found", `There is no finding with the id "${id}"`);
}

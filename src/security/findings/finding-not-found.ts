import { DomainError } from "../../accounts/errors.ts";

/** The same for a finding of another workspace as for one that does not exist. */
export function findingNotFound(id: string): DomainError {
  return new DomainError("not_found", `There is no finding with the id "${id}"`);
}

import { OperationError } from "../api/operations/operation-error.ts";

/** The same sentence for an id that nobody has and one of another workspace. */
export function findingNotFound(id: string): OperationError {
  return new OperationError(`There is no finding with the id "${id}"`);
}

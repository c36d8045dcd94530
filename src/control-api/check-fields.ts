/** Checks what a request sent against the fields of its endpoint. */
import type { Static, TObject } from "@sinclair/typebox";
import { DomainError } from "../accounts/errors.ts";
import { checkedFields, findFieldProblem, type FieldProblem } from "../http/field-problem.ts";
import { shortened } from "../kernel/text.ts";

/** @throws DomainError invalid_field for the first problem */
export function checkFields<Fields extends TObject>(fields: Fields, given: Record<string, unknown>): Static<Fields> {
  const problem = findFieldProblem(fields, given);
  if (problem === null) return checkedFields(fields, given);
  const field = problem.kind === "unknown" ? shortened(problem.field, 60) : problem.field;
  throw new DomainError("invalid_field", messageOf(problem, field), { field });
}

function messageOf(problem: FieldProblem, field: string): string {
  if (problem.kind === "missing") return `The field "${field}" is missing: ${problem.needed} is needed`;
  if (problem.kind === "wrong") return `Cannot take the value of "${field}": ${problem.needed} is needed`;
  const { nearest } = problem;
  const hint = nearest === undefined ? "this request takes no fields" : `the nearest known field is "${nearest}"`;
  return `There is no field "${field}": ${hint}`;
}

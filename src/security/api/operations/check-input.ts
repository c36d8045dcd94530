/** Checks the fields of a call against those of its operation, and says in the error what to change. */
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { DomainError } from "../../../accounts/errors.ts";
import { checkedFields, findFieldProblem, type FieldProblem } from "../../../http/field-problem.ts";

/**
 * @returns the fields with their defaults
 * @throws DomainError invalid_field for the first problem
 */
export function checkInput<Fields extends TObject>(fields: Fields, given: Record<string, unknown>): Static<Fields> {
  const problem = findFieldProblem(fields, given, accepts);
  if (problem !== null) throw new DomainError("invalid_field", messageOf(problem), { field: problem.field });
  const withDefaults = Object.entries(fields.properties).flatMap(([field, { default: fallback }]): [string, unknown][] => {
    if (Object.hasOwn(given, field)) return [[field, given[field]]];
    return fallback === undefined ? [] : [[field, fallback]];
  });
  return checkedFields(fields, Object.fromEntries(withDefaults));
}

/** Lengths are counted in characters, as JSON Schema counts them; JavaScript counts some characters twice. */
function accepts(schema: TSchema, value: unknown): boolean {
  if (typeof value !== "string" || schema["type"] !== "string") return Value.Check(schema, value);
  const { minLength = 0, maxLength = Infinity, ...rest } = schema;
  if (value.length > maxLength * 2) return false;
  const length = [...value].length;
  return length >= minLength && length <= maxLength && Value.Check(rest, value);
}

function messageOf(problem: FieldProblem): string {
  if (problem.kind === "missing") return `The field "${problem.field}" is missing: ${problem.needed} is needed`;
  if (problem.kind === "wrong") {
    const { field, value, needed, required } = problem;
    const leaveOut = value === null && !required ? "; leave the field out where you mean none" : "";
    return `The field "${field}" is ${shown(value)}: ${needed} is needed${leaveOut}`;
  }
  const { field, nearest } = problem;
  const hint = nearest === undefined ? "this operation takes no fields" : `the nearest known field is "${nearest}"`;
  return `There is no field "${shortened(field)}": ${hint}`;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  const length = [...value].length;
  return length > shownMax || /\p{Cc}/u.test(value) ? `a text of ${length} characters` : JSON.stringify(value);
}

const shownMax = 60;

function shortened(name: string): string {
  return name.length > shownMax ? `${name.slice(0, shownMax)}…` : name;
}

/**
 * Compares the fields of a request with a schema, and finds the first problem: unknown fields before wrong values. Each API writes the
 * problem in its own words. For an unknown field it suggests the nearest known one.
 */
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { nearest } from "../kernel/text.ts";

export type FieldProblem =
  /** `nearest` is the most similar known field; undefined: there are none. */
  | { kind: "unknown"; field: string; nearest: string | undefined }
  | { kind: "missing"; field: string; needed: string }
  | { kind: "wrong"; field: string; value: unknown; needed: string; required: boolean };

/**
 * @param accepts whether a schema accepts a value
 * @returns unknown fields first, then the fields in their order; null: the fields match
 */
export function findFieldProblem(
  { properties, required = [] }: TObject,
  given: Record<string, unknown>,
  accepts: (schema: TSchema, value: unknown) => boolean = Value.Check,
): FieldProblem | null {
  const known = Object.keys(properties);
  const unknown = Object.keys(given).find((field) => !Object.hasOwn(properties, field));
  if (unknown !== undefined) return { kind: "unknown", field: unknown, nearest: nearest(unknown, known) };
  for (const [field, schema] of Object.entries(properties)) {
    const { description: needed = "another value" } = schema;
    const isRequired = required.includes(field);
    if (Object.hasOwn(given, field)) {
      const value = given[field];
      if (!accepts(schema, value)) return { kind: "wrong", field, value, needed, required: isRequired };
    } else if (isRequired && schema.default === undefined) return { kind: "missing", field, needed };
  }
  return null;
}

/** Gives fields without a problem the schema's type, which the comparison has proved. */
export function checkedFields<Fields extends TObject>(_fields: Fields, given: Record<string, unknown>): Static<Fields> {
  return given as Static<Fields>;
}

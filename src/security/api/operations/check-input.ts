/** What a call sent against the fields that its operation takes: the first problem is answered, as a sentence that says what to change. */
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { nearest } from "../../../kernel/nearest.ts";
import { DomainError } from "../../../accounts/errors.ts";

/**
 * The fields with their defaults filled in.
 * @throws DomainError for a field that is unknown (naming the nearest known one), missing, null or of the wrong kind
 */
export function checkInput<Fields extends TObject>(fields: Fields, given: Record<string, unknown>): Static<Fields> {
  for (const field of Object.keys(given)) {
    if (!Object.hasOwn(fields.properties, field)) throw unknownField(field, Object.keys(fields.properties));
  }
  const filled = new Map<string, unknown>();
  for (const [field, schema] of Object.entries(fields.properties)) {
    if (Object.hasOwn(given, field)) {
      const value = given[field];
      if (!takes(schema, value)) throw wrongValue({ field, value, schema, required: isRequired(fields, field) });
      filled.set(field, value);
    } else if (schema.default !== undefined) {
      filled.set(field, schema.default);
    } else if (isRequired(fields, field)) {
      throw new DomainError("invalid_field", `The field "${field}" is missing: ${needed(schema)} is needed`);
    }
  }
  return checked(fields, filled);
}

/** Lengths are counted in characters, as JSON Schema counts them; JavaScript counts some characters twice. */
function takes(schema: TSchema, value: unknown): boolean {
  if (typeof value !== "string" || schema["type"] !== "string") return Value.Check(schema, value);
  const { minLength = 0, maxLength = Infinity, ...rest } = schema;
  if (value.length > maxLength * 2) return false;
  const length = [...value].length;
  return length >= minLength && length <= maxLength && Value.Check(rest, value);
}

function isRequired(fields: TObject, field: string): boolean {
  return fields.required?.includes(field) ?? false;
}

function unknownField(field: string, known: string[]): DomainError {
  const near = nearest(field, known);
  const hint = near === undefined ? "this operation takes no fields" : `the nearest known field is "${near}"`;
  return new DomainError("invalid_field", `There is no field "${shortened(field)}": ${hint}`);
}

function wrongValue(wrong: { field: string; value: unknown; schema: TSchema; required: boolean }): DomainError {
  const { field, value, schema, required } = wrong;
  const leaveOut = value === null && !required ? "; leave the field out where you mean none" : "";
  return new DomainError("invalid_field", `The field "${field}" is ${shown(value)}: ${needed(schema)} is needed${leaveOut}`);
}

function needed({ description = "another value" }: TSchema): string {
  return description;
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

/** Every property was checked against its schema above, and there are no others. */
function checked<Fields extends TObject>(_fields: Fields, filled: Map<string, unknown>): Static<Fields> {
  return Object.fromEntries(filled) as Static<Fields>;
}

/** What a request sent against the fields that its endpoint takes: the first problem is answered, by name. */
import type { Static, TObject } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { DomainError } from "../accounts/errors.ts";
import { nearest } from "../kernel/nearest.ts";
import { shortened } from "../kernel/shortened.ts";

/**
 * @throws DomainError invalid_field for a field that is unknown (naming the nearest known one), missing, or of the wrong kind
 */
export function checkFields<Fields extends TObject>(fields: Fields, given: Record<string, unknown>): Static<Fields> {
  for (const field of Object.keys(given)) {
    if (!Object.hasOwn(fields.properties, field)) throw unknownField(field, Object.keys(fields.properties));
  }
  for (const [field, schema] of Object.entries(fields.properties)) {
    const needed = schema.description ?? "another value";
    if (!Object.hasOwn(given, field)) {
      if (!fields.required?.includes(field)) continue;
      throw new DomainError("invalid_field", `The field "${field}" is missing: ${needed} is needed`, { field });
    }
    if (!Value.Check(schema, given[field])) {
      throw new DomainError("invalid_field", `Cannot take the value of "${field}": ${needed} is needed`, { field });
    }
  }
  return checked(fields, given);
}

function unknownField(field: string, known: string[]): DomainError {
  const near = nearest(field, known);
  const hint = near === undefined ? "this request takes no fields" : `the nearest known field is "${near}"`;
  const shown = shortened(field, 60);
  return new DomainError("invalid_field", `There is no field "${shown}": ${hint}`, { field: shown });
}

/** Every property was checked against its schema above, and there are no others. */
function checked<Fields extends TObject>(_fields: Fields, given: Record<string, unknown>): Static<Fields> {
  return given as Static<Fields>;
}

/** A small value that a schema allows, for the examples of the reference. */
import { exampleFields } from "./example-fields.ts";
import { withoutNull, type Shape } from "./shape.ts";

/** Of an object only the required fields. @param name the field's, which may have a value of its own */
export function exampleValue(shape: Shape, name = ""): unknown {
  const { words, types, branches, items, fields, numbers } = withoutNull(shape);
  if (words.length > 0) return words[0];
  if (Object.hasOwn(exampleFields, name)) return exampleFields[name];
  const [first] = branches;
  if (first !== undefined) return exampleValue(first, name);
  if (types.includes("array")) return items === null || !(numbers.minItems ?? 0) ? [] : [exampleValue(items)];
  if (types.includes("object")) {
    const required = fields.filter((field) => field.required);
    return Object.fromEntries(required.map((field) => [field.name, exampleValue(field.shape, field.name)]));
  }
  if (types.includes("integer") || types.includes("number")) return numbers.minimum ?? 1;
  return types.includes("boolean") ? true : name.toUpperCase();
}

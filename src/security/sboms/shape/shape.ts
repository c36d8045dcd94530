/**
 * A small language for document rules. It replaces TypeBox because one description has to validate JSON, build the same value
 * from XML elements, know the version that introduced a field, and name the location of a fault in either encoding.
 */
import type { JsonObject, JsonValue } from "../json/value.ts";

export type Shape = TextShape | IntegerShape | FlagShape | ListShape | ObjectShape | EitherShape | OpaqueShape;

export interface TextShape {
  kind: "text";
  pattern?: RegExp;
  /** The requirement of the pattern: `must be …`. */
  says?: string;
  /** The allowed values, each with the format version that introduced it. */
  oneOf?: ReadonlyMap<string, number>;
  allows?: (value: string) => boolean;
  charactersMin?: number;
  charactersMax?: number;
}

export interface IntegerShape {
  kind: "integer";
  min?: number;
}

export interface FlagShape {
  kind: "flag";
}

export interface ListShape {
  kind: "list";
  of: () => Shape;
  itemsMin?: number;
  rule?: (items: JsonValue[], version: number) => string | null;
  /** XML: the elements in the list's own element. */
  items?: string;
  /** XML: elements of several names, each an item with that one field, filled from the element or from its attribute. */
  choice?: Record<string, { field: string; attribute?: string }>;
  /** XML: skipped elements. */
  passes?: string;
  /** XML: the elements are directly in the object, under this name. */
  flat?: string;
  /** XML: an item is this attribute of its element. */
  itemAttribute?: string;
}

export interface ObjectShape {
  kind: "object";
  fields: Record<string, Field>;
  /** The version from which unknown fields are refused; absent: never. */
  closedFrom?: number;
  /** The field whose value must be unique in the document; null if this object has none. */
  identity?: (value: JsonObject) => string | null;
  rule?: (value: JsonObject, version: number) => RuleBreak | null;
}

/** A list in one form of a field, an object in the other. */
export interface EitherShape {
  kind: "either";
  list: ListShape;
  object: ObjectShape;
}

/** Known, but neither read nor validated. */
export interface OpaqueShape {
  kind: "opaque";
}

export interface Field {
  shape: Shape;
  since?: number;
  /** In versions from the first to the last of these. */
  required?: readonly [number, number];
  /** XML: an attribute, the element's own text, or an element, with another name than the field's. */
  xml?: { as: "attribute" | "content" | "element"; name?: string };
}

export interface RuleBreak {
  /** The faulty field; absent for the object itself. */
  key?: string;
  says: string;
}

export const always: readonly [number, number] = [0, Number.POSITIVE_INFINITY];

export const text = (rules: Omit<TextShape, "kind"> = {}): TextShape => ({ kind: "text", ...rules });
export const flag: FlagShape = { kind: "flag" };
export const opaque: OpaqueShape = { kind: "opaque" };
export const list = (of: () => Shape, form: Omit<ListShape, "kind" | "of"> = {}): ListShape => ({ kind: "list", of, ...form });
export const object = (fields: Record<string, Field>, more: Omit<ObjectShape, "kind" | "fields"> = {}): ObjectShape => ({
  kind: "object",
  fields,
  ...more,
});

/** The values of an enumeration that never changed. */
export const oneOf = (...values: string[]): TextShape => text({ oneOf: new Map(values.map((value) => [value, 0])) });

/** A field in its most common form. */
export function field(shape: Shape, more: Omit<Field, "shape"> = {}): Field {
  return { shape, ...more };
}

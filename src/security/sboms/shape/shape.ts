/**
 * A small language for the rules of documents. Not TypeBox: one description has to validate JSON, build the same value from XML
 * elements, know since which version of the format a field exists, and name the place of a fault in either encoding.
 */
import type { JsonObject, JsonValue } from "../json/value.ts";

export type Shape = TextShape | IntegerShape | FlagShape | ListShape | ObjectShape | EitherShape | OpaqueShape;

export interface TextShape {
  kind: "text";
  pattern?: RegExp;
  /** Says what the pattern asks for: `must be …`. */
  says?: string;
  /** The values allowed, each with the version of the format that brought it. */
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
  /** XML: elements that are passed over. */
  passes?: string;
  /** XML: the elements stand in the object itself, under this name. */
  flat?: string;
  /** XML: an item is this attribute of its element. */
  itemAttribute?: string;
}

export interface ObjectShape {
  kind: "object";
  fields: Record<string, Field>;
  /** The version from which other fields than these are refused; absent: never. */
  closedFrom?: number;
  /** The field whose value must be unique in the document; null: not of this object. */
  identity?: (value: JsonObject) => string | null;
  rule?: (value: JsonObject, version: number) => RuleBreak | null;
}

/** A list in one form of a field, an object in the other. */
export interface EitherShape {
  kind: "either";
  list: ListShape;
  object: ObjectShape;
}

/** Known, and neither read nor judged. */
export interface OpaqueShape {
  kind: "opaque";
}

export interface Field {
  shape: Shape;
  since?: number;
  /** In versions from the first to the last of these. */
  required?: readonly [number, number];
  /** XML: an attribute, the element's own text, or an element; under another name than the field's. */
  xml?: { as: "attribute" | "content" | "element"; name?: string };
}

export interface RuleBreak {
  /** The field where the fault lies; absent: the object itself. */
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

/** A field in the form that most have. */
export function field(shape: Shape, more: Omit<Field, "shape"> = {}): Field {
  return { shape, ...more };
}

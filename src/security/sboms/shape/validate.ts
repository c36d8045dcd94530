/** Validates a value against its shape. */
import { sbomProblemsMax, sbomTextCharactersMax } from "../../limits.ts";
import { fieldOf, isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import type { Field, ListShape, ObjectShape, Shape, TextShape } from "./shape.ts";

export type Path = readonly (string | number)[];

export interface Fault {
  path: Path;
  says: string;
}

interface Validation {
  version: number;
  path: (string | number)[];
  faults: Fault[];
  identities: Set<string>;
}

/** @returns the first faults, in document order; empty for a valid value */
export function validate({ value, shape, version }: { value: JsonValue; shape: Shape; version: number }): Fault[] {
  const validation: Validation = { version, path: [], faults: [], identities: new Set() };
  validateValue(validation, value, shape);
  return validation.faults;
}

function validateValue(validation: Validation, value: JsonValue, shape: Shape): void {
  if (validation.faults.length >= sbomProblemsMax || shape.kind === "opaque") return;
  if (shape.kind === "either") return validateValue(validation, value, Array.isArray(value) ? shape.list : shape.object);
  if (shape.kind === "list") return validateList(validation, value, shape);
  if (shape.kind === "object") return validateObject(validation, value, shape);
  const says = shape.kind === "text" ? faultOfText(value, shape, validation.version) : faultOfScalar(value, shape);
  if (says !== null) fault(validation, says);
}

function validateList(validation: Validation, value: JsonValue, shape: ListShape): void {
  if (!Array.isArray(value)) return fault(validation, `must be a list, not ${kindOf(value)}`);
  if (value.length < (shape.itemsMin ?? 0)) return fault(validation, "must not be empty");
  const broken = shape.rule?.(value, validation.version) ?? null;
  if (broken !== null) fault(validation, broken);
  const of = shape.of();
  for (const [index, item] of value.entries()) {
    validation.path.push(index);
    validateValue(validation, item, of);
    validation.path.pop();
  }
}

function validateObject(validation: Validation, value: JsonValue, shape: ObjectShape): void {
  if (!isObject(value)) return fault(validation, `must be an object, not ${kindOf(value)}`);
  for (const key in value) validateField({ validation, value, shape, key });
  for (const key in shape.fields) {
    const field = shape.fields[key];
    if (field !== undefined && isRequired(field, validation.version) && !Object.hasOwn(value, key)) {
      fault(validation, "is required", key);
    }
  }
  validateIdentity(validation, value, shape);
  const broken = shape.rule?.(value, validation.version) ?? null;
  if (broken !== null) fault(validation, broken.says, broken.key);
}

interface FieldToValidate {
  validation: Validation;
  value: JsonObject;
  shape: ObjectShape;
  key: string;
}

function validateField({ validation, value, shape, key }: FieldToValidate): void {
  const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
  const isKnown = field !== undefined && (field.since ?? 0) <= validation.version;
  if (!isKnown) {
    if (shape.closedFrom === undefined || validation.version < shape.closedFrom) return;
    return fault(validation, "is not a field that this version of the format knows here", key);
  }
  validation.path.push(key);
  validateValue(validation, value[key] ?? null, field.shape);
  validation.path.pop();
}

function validateIdentity(validation: Validation, value: JsonObject, shape: ObjectShape): void {
  const key = shape.identity?.(value) ?? null;
  if (key === null) return;
  const identity = fieldOf(value, key);
  if (typeof identity !== "string" || identity === "") return;
  if (validation.identities.has(identity)) fault(validation, `is not unique: ${quoted(identity)} occurs more than once`, key);
  else validation.identities.add(identity);
}

function faultOfText(value: JsonValue, shape: TextShape, version: number): string | null {
  if (typeof value !== "string") return `must be text, not ${kindOf(value)}`;
  const max = shape.charactersMax ?? sbomTextCharactersMax;
  if (value.length > max) return `must be at most ${max} characters long`;
  if (value.length < (shape.charactersMin ?? 0)) return "must not be empty";
  if (value.includes("\0") || !value.isWellFormed()) return "must hold neither U+0000 nor half of a surrogate pair";
  if (shape.oneOf !== undefined && (shape.oneOf.get(value) ?? Number.POSITIVE_INFINITY) > version) {
    const allowed = [...shape.oneOf].filter(([, since]) => since <= version).map(([name]) => name);
    return `must be one of ${allowed.join(", ")}, not ${quoted(value)}`;
  }
  const breaks = shape.pattern?.test(value) === false || shape.allows?.(value) === false;
  return breaks ? `must be ${shape.says ?? `as ${shape.pattern} says`}, not ${quoted(value)}` : null;
}

function faultOfScalar(value: JsonValue, shape: { kind: "integer"; min?: number } | { kind: "flag" }): string | null {
  if (shape.kind === "flag") return typeof value === "boolean" ? null : `must be true or false, not ${kindOf(value)}`;
  if (typeof value !== "number" || !Number.isInteger(value)) return `must be a whole number, not ${kindOf(value)}`;
  return value < (shape.min ?? Number.NEGATIVE_INFINITY) ? `must be at least ${shape.min}` : null;
}

function isRequired(field: Field, version: number): boolean {
  return field.required !== undefined && version >= field.required[0] && version <= field.required[1];
}

function fault(validation: Validation, says: string, key?: string): void {
  if (validation.faults.length >= sbomProblemsMax) return;
  validation.faults.push({ path: key === undefined ? [...validation.path] : [...validation.path, key], says });
}

function kindOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return "text";
  if (typeof value === "number") return "a number";
  return typeof value === "boolean" ? "true or false" : "an object";
}

function quoted(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
}

/** Judges a value by its shape. */
import { sbomProblemsMax, sbomTextCharactersMax } from "../../limits.ts";
import { fieldOf, isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import type { Field, ListShape, ObjectShape, Shape, TextShape } from "./shape.ts";

export type Path = readonly (string | number)[];

export interface Fault {
  path: Path;
  says: string;
}

interface Judgement {
  version: number;
  path: (string | number)[];
  faults: Fault[];
  identities: Set<string>;
}

/** @returns the first faults, in the order of the document; none where it keeps the rules */
export function judge({ value, shape, version }: { value: JsonValue; shape: Shape; version: number }): Fault[] {
  const judgement: Judgement = { version, path: [], faults: [], identities: new Set() };
  judgeValue(judgement, value, shape);
  return judgement.faults;
}

function judgeValue(judgement: Judgement, value: JsonValue, shape: Shape): void {
  if (judgement.faults.length >= sbomProblemsMax || shape.kind === "opaque") return;
  if (shape.kind === "either") return judgeValue(judgement, value, Array.isArray(value) ? shape.list : shape.object);
  if (shape.kind === "list") return judgeList(judgement, value, shape);
  if (shape.kind === "object") return judgeObject(judgement, value, shape);
  const says = shape.kind === "text" ? faultOfText(value, shape, judgement.version) : faultOfScalar(value, shape);
  if (says !== null) fault(judgement, says);
}

function judgeList(judgement: Judgement, value: JsonValue, shape: ListShape): void {
  if (!Array.isArray(value)) return fault(judgement, `must be a list, not ${kindOf(value)}`);
  if (value.length < (shape.itemsMin ?? 0)) return fault(judgement, "must not be empty");
  const broken = shape.rule?.(value, judgement.version) ?? null;
  if (broken !== null) fault(judgement, broken);
  const of = shape.of();
  for (const [index, item] of value.entries()) {
    judgement.path.push(index);
    judgeValue(judgement, item, of);
    judgement.path.pop();
  }
}

function judgeObject(judgement: Judgement, value: JsonValue, shape: ObjectShape): void {
  if (!isObject(value)) return fault(judgement, `must be an object, not ${kindOf(value)}`);
  for (const key in value) judgeField({ judgement, value, shape, key });
  for (const key in shape.fields) {
    const field = shape.fields[key];
    if (field !== undefined && isRequired(field, judgement.version) && !Object.hasOwn(value, key)) {
      fault(judgement, "is required", key);
    }
  }
  judgeIdentity(judgement, value, shape);
  const broken = shape.rule?.(value, judgement.version) ?? null;
  if (broken !== null) fault(judgement, broken.says, broken.key);
}

interface FieldToJudge {
  judgement: Judgement;
  value: JsonObject;
  shape: ObjectShape;
  key: string;
}

function judgeField({ judgement, value, shape, key }: FieldToJudge): void {
  const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
  const isKnown = field !== undefined && (field.since ?? 0) <= judgement.version;
  if (!isKnown) {
    if (shape.closedFrom === undefined || judgement.version < shape.closedFrom) return;
    return fault(judgement, "is not a field that this version of the format knows here", key);
  }
  judgement.path.push(key);
  judgeValue(judgement, value[key] ?? null, field.shape);
  judgement.path.pop();
}

function judgeIdentity(judgement: Judgement, value: JsonObject, shape: ObjectShape): void {
  const key = shape.identity?.(value) ?? null;
  if (key === null) return;
  const identity = fieldOf(value, key);
  if (typeof identity !== "string" || identity === "") return;
  if (judgement.identities.has(identity)) fault(judgement, `is not unique: ${quoted(identity)} stands elsewhere too`, key);
  else judgement.identities.add(identity);
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

function fault(judgement: Judgement, says: string, key?: string): void {
  if (judgement.faults.length >= sbomProblemsMax) return;
  judgement.faults.push({ path: key === undefined ? [...judgement.path] : [...judgement.path, key], says });
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

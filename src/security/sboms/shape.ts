/**
 * A small language for the rules of documents, validation by these rules, and the location of a fault in JSON and in XML.
 *
 * It replaces TypeBox because one description has to validate JSON, build the same value from XML elements, know which version introduced a
 * field, and locate a fault in either encoding. The first faults are enough: validation ends after `sbomProblemsMax`.
 *
 * A document is refused only for what it would be misread by. What real writers write although the format forbids it is put right in place,
 * with a warning: null or an empty text for an optional field, fields and values of a later version, other spellings of a word, and what a
 * field `tolerates`. Unknown fields stay refused where the format refuses them: they may be misspelled ones.
 */
import { sbomProblemsMax, sbomTextCharactersMax } from "../limits.ts";
import { type JsonObject, type JsonValue, fieldOf, isObject } from "./json.ts";

export type Shape = TextShape | IntegerShape | FlagShape | ListShape | ObjectShape | EitherShape | OpaqueShape;

interface TextShape {
  kind: "text";
  pattern?: RegExp;
  /** What the pattern requires: `must be …`. */
  says?: string;
  /** The allowed values, each with the format version that introduced it. */
  oneOf?: ReadonlyMap<string, number>;
  allows?: (value: string) => boolean;
  charactersMin?: number;
  charactersMax?: number;
  /** What is read in place of a text that breaks the rules above; null: it is refused. */
  tolerates?: (value: string) => Tolerated | null;
}

export interface Tolerated {
  /** null: the field counts as absent. */
  reads: string | null;
  /** A clause that follows the location. */
  says: string;
  /** Whether XML allows it, so that only JSON gets the warning. */
  inXml?: true;
}

interface IntegerShape {
  kind: "integer";
  min?: number;
}

interface FlagShape {
  kind: "flag";
}

export interface ListShape {
  kind: "list";
  of: () => Shape;
  itemsMin?: number;
  rule?: (items: JsonValue[], version: number) => string | null;
  /** XML: the name of the elements inside the list's element. */
  items?: string;
  /** XML: elements with different names, each an item with just that field, filled from the element or from its attribute. */
  choice?: Record<string, { field: string; attribute?: string }>;
  /** XML: skipped elements. */
  passes?: string;
  /** XML: the elements are directly in the object, with this name. */
  flat?: string;
  /** XML: an item is this attribute of its element. */
  itemAttribute?: string;
}

export interface ObjectShape {
  kind: "object";
  fields: Record<string, Field>;
  /** The version from which unknown fields are refused; absent: they are always allowed. */
  closedFrom?: number;
  /** The field whose value must be unique in the document; null if this object has none. */
  identity?: (value: JsonObject) => string | null;
  rule?: (value: JsonObject, version: number) => RuleBreak | null;
  /** What is taken, but has to be told. */
  note?: (value: JsonObject) => RuleBreak | null;
}

/** A list in one variant of a field, an object in the other. */
interface EitherShape {
  kind: "either";
  list: ListShape;
  object: ObjectShape;
}

/** Known, but neither read nor validated. */
interface OpaqueShape {
  kind: "opaque";
}

export interface Field {
  shape: Shape;
  since?: number;
  /** The first and the last version in which it is required. */
  required?: readonly [number, number];
  /** Later versions do not require it, so its absence is only a warning. */
  waived?: true;
  /** XML: an attribute, the element's text, or an element whose name differs from the field's. */
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

/** The values of an enumeration that has never changed. */
export const oneOf = (...values: string[]): TextShape => text({ oneOf: new Map(values.map((value) => [value, 0])) });

/** A field in its most common form. */
export function field(shape: Shape, more: Omit<Field, "shape"> = {}): Field {
  return { shape, ...more };
}

export type Path = readonly (string | number)[];

interface Fault {
  path: Path;
  says: string;
}

interface ToValidate {
  /** Changed in place where something is tolerated. */
  value: JsonValue;
  shape: Shape;
  version: number;
  encoding: "json" | "xml" | "tag-value";
  warn: (path: Path, says: string) => void;
}

interface Validation extends Omit<ToValidate, "value" | "shape"> {
  path: (string | number)[];
  faults: Fault[];
  identities: Set<string>;
}

/** @returns the first faults, in document order; empty for a valid value */
export function validate({ value, shape, ...how }: ToValidate): Fault[] {
  const validation: Validation = { ...how, path: [], faults: [], identities: new Set() };
  validateValue(validation, value, shape);
  return validation.faults;
}

/** Such as `components[12].purl`; the document itself is `document`. */
export function jsonLocation(path: Path): string {
  const place = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return place === "" ? "document" : place.replace(/^\./, "");
}

/** Such as `/bom/components/component[13]/@bom-ref`: positions count from one, as in XPath. */
export function xmlLocation(path: Path, root: Shape): string {
  let place = "/bom";
  let shape: Shape | undefined = root;
  for (const step of path) {
    const next: Step = typeof step === "number" ? itemLocation(step, shape) : fieldLocation(step, shape);
    place += next.place;
    shape = next.shape;
  }
  return place;
}

interface Step {
  place: string;
  shape: Shape | undefined;
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

function validateObject(validation: Validation, value: JsonValue, shape: ObjectShape): void {
  if (!isObject(value)) return fault(validation, `must be an object, not ${kindOf(value)}`);
  for (const key in value) validateField({ validation, value, shape, key });
  for (const key in shape.fields) {
    const field = shape.fields[key];
    if (field === undefined || Object.hasOwn(value, key) || !isRequired(field, validation.version)) continue;
    if (field.waived === true) warn(validation, "is required in this version of the format, and is missing", key);
    else fault(validation, "is required", key);
  }
  validateIdentity(validation, value, shape);
  const broken = shape.rule?.(value, validation.version) ?? null;
  if (broken !== null) fault(validation, broken.says, broken.key);
  const noted = shape.note?.(value) ?? null;
  if (noted !== null) warn(validation, noted.says, noted.key);
}

function warn({ path, warn: told }: Validation, says: string, key?: string): void {
  told(key === undefined ? path : [...path, key], says);
}

interface FieldToValidate {
  validation: Validation;
  value: JsonObject;
  shape: ObjectShape;
  key: string;
}

function validateField({ validation, value, shape, key }: FieldToValidate): void {
  const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
  const isLater = field !== undefined && (field.since ?? 0) > validation.version;
  if (field === undefined || isLater) {
    if (shape.closedFrom === undefined || validation.version < shape.closedFrom) return;
    if (field === undefined) return fault(validation, "is not a field here in this version of the format", key);
    warn(validation, "is a field of a later version of the format", key);
  }
  if (field.shape.kind === "opaque") return;
  if (value[key] === null && mayBeAbsent(field, validation.version)) {
    if (!isRequired(field, validation.version)) warn(validation, "is null, and counts as absent", key);
    delete value[key];
    return;
  }
  if (field.shape.kind === "text" && isSettled({ validation, value, key, field, shape: field.shape })) return;
  validation.path.push(key);
  validateValue(validation, value[key] ?? null, field.shape);
  validation.path.pop();
}

interface TextToSettle {
  validation: Validation;
  value: JsonObject;
  key: string;
  field: Field;
  shape: TextShape;
}

/** Puts right what is tolerated in a text. @returns false for a valid text, and for one to refuse */
function isSettled({ validation, value, key, field, shape }: TextToSettle): boolean {
  const written = value[key];
  if (typeof written !== "string" || faultOfText(written, shape, validation.version) === null) return false;
  const settled =
    written === "" && mayBeAbsent(field, validation.version)
      ? { reads: null, says: "is empty, and counts as absent" }
      : toleratedText(written, shape, validation);
  if (settled === null) return false;
  if (settled.inXml !== true || validation.encoding !== "xml") warn(validation, settled.says, key);
  if (settled.reads === null && mayBeAbsent(field, validation.version)) delete value[key];
  else value[key] = settled.reads;
  return true;
}

function toleratedText(written: string, shape: TextShape, { version }: Validation): Tolerated | null {
  const name = shape.oneOf === undefined ? undefined : spellingsOf(shape.oneOf).get(spellingOf(written));
  if (name === undefined) return shape.tolerates?.(written) ?? null;
  const isLater = (shape.oneOf?.get(name) ?? 0) > version;
  return {
    reads: name,
    says: isLater ? "has a value of a later version of the format" : `is spelled ${quoted(written)}, and read as ${name}`,
  };
}

const spellings = new WeakMap<ReadonlyMap<string, number>, Map<string, string>>();

/** The words of an enumeration by what all their spellings share. */
function spellingsOf(words: ReadonlyMap<string, number>): ReadonlyMap<string, string> {
  const known = spellings.get(words) ?? new Map([...words.keys()].map((word) => [spellingOf(word), word]));
  spellings.set(words, known);
  return known;
}

/** Writers differ in capitals, hyphens and underscores. */
function spellingOf(word: string): string {
  return word.length > 100 ? "" : word.toLowerCase().replaceAll(/[-_ ]/g, "");
}

function isRequired(field: Field, version: number): boolean {
  return field.required !== undefined && version >= field.required[0] && version <= field.required[1];
}

function mayBeAbsent(field: Field, version: number): boolean {
  return field.waived === true || !isRequired(field, version);
}

function validateIdentity(validation: Validation, value: JsonObject, shape: ObjectShape): void {
  const key = shape.identity?.(value) ?? null;
  if (key === null) return;
  const identity = fieldOf(value, key);
  if (typeof identity !== "string" || identity === "") return;
  if (validation.identities.has(identity)) fault(validation, `is not unique: ${quoted(identity)} occurs more than once`, key);
  else validation.identities.add(identity);
}

function quoted(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
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

function itemLocation(index: number, shape: Shape | undefined): Step {
  const list = shape?.kind === "either" ? shape.list : shape;
  if (list?.kind !== "list") return { place: `[${index + 1}]`, shape: undefined };
  const name = list.choice !== undefined ? "*" : (list.items ?? list.flat ?? "*");
  const attribute = list.itemAttribute === undefined ? "" : `/@${list.itemAttribute}`;
  return { place: `/${name}[${index + 1}]${attribute}`, shape: list.of() };
}

function fieldLocation(key: string, shape: Shape | undefined): Step {
  const object = shape?.kind === "either" ? shape.object : shape;
  const field = object?.kind === "object" && Object.hasOwn(object.fields, key) ? object.fields[key] : undefined;
  const name = field?.xml?.name ?? key;
  if (field === undefined) return { place: `/${name}`, shape: undefined };
  if (field.xml?.as === "attribute") return { place: `/@${name}`, shape: field.shape };
  if (field.xml?.as === "content") return { place: "/text()", shape: field.shape };
  const isFlat = field.shape.kind === "list" && field.shape.flat !== undefined;
  return { place: isFlat ? "" : `/${name}`, shape: field.shape };
}

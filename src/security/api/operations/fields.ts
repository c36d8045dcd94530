/**
 * Kinds of fields that operations take. A title says what the field means, the description completes the sentence
 * "… is needed"; both together describe the field to people and models.
 */
import {
  Type,
  type TInteger,
  type TLiteral,
  type TNumber,
  type TOptional,
  type TSchema,
  type TString,
  type TUnion,
} from "@sinclair/typebox";
import { nameCharactersMax } from "../../../accounts/limits.ts";

/** Without control characters but tab and line ends: PostgreSQL takes no NUL, and the others forge lines of logs and mails. */
const printable = "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$";
const printableLine = "^[^\\u0000-\\u001f\\u007f]*$";

interface TextOptions {
  title: string;
  min?: number;
  max: number;
}

/** Text of any number of lines; lengths in characters (code points). */
export function text({ title, min = 0, max }: TextOptions): TString {
  const description = `a text of ${min === 0 ? "at most" : `${min} to`} ${max} characters (no control characters)`;
  return Type.String({ title, description, ...(min > 0 && { minLength: min }), maxLength: max, pattern: printable });
}

/** One line of text. */
export function lineOf({ title, min = 0, max }: TextOptions): TString {
  const description = `one line of ${min === 0 ? "at most" : `${min} to`} ${max} characters (no control characters)`;
  return Type.String({ title, description, ...(min > 0 && { minLength: min }), maxLength: max, pattern: printableLine });
}

/** One of a few words. @param normal stands where the field is left out */
export function oneOf<const Words extends string[]>(
  words: readonly [...Words],
  { title, normal }: { title: string; normal: NoInfer<Words[number]> },
): OneOf<Words> {
  const all = words.map((word) => Type.Literal(word));
  return filled(literals<Words>(Type.Union(all, { title, description: `one of ${words.join(", ")}`, default: normal })));
}

type OneOf<Words extends string[]> = TUnion<{ [Index in keyof Words]: TLiteral<Words[Index]> }>;

/** Each word became a literal in its place, which `map` cannot say of a tuple. */
function literals<Words extends string[]>(union: TUnion): OneOf<Words> {
  return union as unknown as OneOf<Words>;
}

interface NumberOptions {
  title: string;
  min: number;
  max?: number;
}

/** What a computer holds exactly. @param normal stands where the field is left out */
export function wholeNumber({ normal, ...options }: NumberOptions & { normal: number }): TInteger {
  return filled(optionalNumber({ ...options, normal }));
}

export function optionalNumber({ title, min, max, normal }: NumberOptions & { normal?: number }): TInteger {
  const description = max === undefined ? `a whole number of ${min} or more` : `a whole number from ${min} to ${max}`;
  const bounds = { minimum: min, maximum: max ?? Number.MAX_SAFE_INTEGER };
  return Type.Integer({ title, description, ...bounds, ...(normal !== undefined && { default: normal }) });
}

/** With a point or without. */
export function decimal({ title, min, max }: { title: string; min: number; max: number }): TNumber {
  return Type.Number({ title, description: `a number from ${min} to ${max}`, minimum: min, maximum: max });
}

/** Callers may leave it out, handlers find it always: the check of a call fills the default in. */
function filled<Field extends TSchema>(field: Field): Field {
  return Type.Optional(field) as unknown as Field;
}

/** An id of something: one that is not there is refused by the operation, whatever is wrong with it. */
export function idField(title: string): TString {
  return lineOf({ title, min: 1, max: nameCharactersMax });
}

/** Lists show what has exactly this name. */
export function nameFilter(title: string): TOptional<TString> {
  return Type.Optional(lineOf({ title, min: 1, max: nameCharactersMax }));
}

/**
 * The field types of operations, and the paging of lists. A title explains the field, and the description completes the sentence "… is
 * needed"; together they describe the field to people and models. Defaults are part of the schema, so handlers always get a value. A list
 * answers `limit`, `offset`, `total` and `has_more`, which says whether more rows follow.
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
  type TProperties,
} from "@sinclair/typebox";
import { nameCharactersMax } from "../accounts/limits.ts";

/**
 * No control characters except tabs and line breaks: PostgreSQL does not accept NUL, and the others could forge lines in logs and emails.
 */
const printable = "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$";
const printableLine = "^[^\\u0000-\\u001f\\u007f]*$";

interface TextOptions {
  title: string;
  min?: number;
  max: number;
}

/** Multi-line text; lengths are in characters (code points). */
export function textField({ title, min = 0, max }: TextOptions): TString {
  const description = `a text of ${min === 0 ? "at most" : `${min} to`} ${max} characters (no control characters)`;
  return Type.String({ title, description, ...(min > 0 && { minLength: min }), maxLength: max, pattern: printable });
}

/** One line of text. */
export function lineOf({ title, min = 0, max }: TextOptions): TString {
  const description = `one line of ${min === 0 ? "at most" : `${min} to`} ${max} characters (no control characters)`;
  return Type.String({ title, description, ...(min > 0 && { minLength: min }), maxLength: max, pattern: printableLine });
}

/** An enumeration. @param normal the default */
export function choiceField<const Words extends string[]>(
  words: readonly [...Words],
  { title, normal }: { title: string; normal: NoInfer<Words[number]> },
): OneOf<Words> {
  const all = words.map((word) => Type.Literal(word));
  return filled(literals<Words>(Type.Union(all, { title, description: `one of ${words.join(", ")}`, default: normal })));
}

type OneOf<Words extends string[]> = TUnion<{ [Index in keyof Words]: TLiteral<Words[Index]> }>;

interface NumberOptions {
  title: string;
  min: number;
  max?: number;
}

export function optionalNumber({ title, min, max, normal }: NumberOptions & { normal?: number }): TInteger {
  const description = max === undefined ? `a whole number of ${min} or more` : `a whole number from ${min} to ${max}`;
  const bounds = { minimum: min, maximum: max ?? Number.MAX_SAFE_INTEGER };
  return Type.Integer({ title, description, ...bounds, ...(normal !== undefined && { default: normal }) });
}

/** An integer or a decimal number. */
export function decimal({ title, min, max }: { title: string; min: number; max: number }): TNumber {
  return Type.Number({ title, description: `a number from ${min} to ${max}`, minimum: min, maximum: max });
}

/** An id. The operation refuses an unknown one, whatever its format. */
export function idField(title: string): TString {
  return lineOf({ title, min: 1, max: nameCharactersMax });
}

/** Filters a list by exact name. */
export function nameFilter(title: string): TOptional<TString> {
  return Type.Optional(lineOf({ title, min: 1, max: nameCharactersMax }));
}

/** `limit` and `offset` of a list. @param max absent: any limit is accepted, and the operation reports the one that it uses */
export function pageFields({ normal, max }: { normal: number; max?: number }) {
  return {
    limit: wholeNumber({ title: "Rows at most", min: 1, normal, ...(max !== undefined && { max }) }),
    offset: wholeNumber({ title: "Rows to skip", min: 0, normal: 0 }),
  };
}

export interface Page {
  limit: number;
  offset: number;
}

const pageData = {
  total: Type.Integer({ description: "Number of all rows" }),
  limit: Type.Integer({ description: "Maximum of rows" }),
  offset: Type.Integer({ description: "Number of skipped rows" }),
  has_more: Type.Boolean({ description: "Whether more rows follow" }),
};

/** Where the next page begins, if a page has fewer rows than its limit and is not the last. */
export const nextOffset = Type.Optional(
  Type.Integer({ description: "Only over MCP, where a page may have fewer rows: the `offset` of the next one" }),
);

/** `data` of a list: `{<plural>: […], total, limit, offset, has_more}`. @param further additional fields */
export function listData<const Plural extends string, Row extends TSchema, Further extends TProperties = Record<never, never>>(
  plural: Plural,
  row: Row,
  further?: Further,
) {
  const rows = { [plural]: Type.Array(row, { description: "The rows" }) } as {
    [Name in Plural]: ReturnType<typeof Type.Array<Row>>;
  };
  return Type.Object({ ...rows, ...pageData, ...(further as Further) }, { description: "One page of the list" });
}

/** What a list answers besides its rows. */
export function pageAnswer({ limit, offset }: Page, { total, rows }: { total: number; rows: number }) {
  return { total, limit, offset, has_more: offset + rows < total };
}

/** The same for an MCP page, which may have fewer rows to stay within its size. */
export function shortPageAnswer(page: Page, { total, rows }: { total: number; rows: number }) {
  const next = page.offset + rows;
  const isShort = rows > 0 && rows < page.limit && next < total;
  return { ...pageAnswer(page, { total, rows }), ...(isShort && { next_offset: next }) };
}

/** Optional for callers; handlers always get a value, because validation applies the default. */
function filled<Field extends TSchema>(field: Field): Field {
  return Type.Optional(field) as unknown as Field;
}

/** Every word is mapped to a literal, but the type of `map` does not show that for a tuple. */
function literals<Words extends string[]>(union: TUnion): OneOf<Words> {
  return union as unknown as OneOf<Words>;
}

/** An integer that JavaScript represents exactly. @param normal the default */
function wholeNumber({ normal, ...options }: NumberOptions & { normal: number }): TInteger {
  return filled(optionalNumber({ ...options, normal }));
}

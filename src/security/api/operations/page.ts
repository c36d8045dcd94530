/** The fields and the envelope of lists with limit and offset, which shows whether rows are missing. */
import { Type, type TProperties, type TSchema } from "@sinclair/typebox";
import { wholeNumber } from "./fields.ts";

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

/** Says where a page that has fewer rows than its limit, and is not the last one, goes on. */
export const nextOffset = Type.Optional(
  Type.Integer({ description: "Only over MCP, where a page may have fewer rows: the `offset` of the next one" }),
);

/** `data` of a list: `{<plural>: […], total, limit, offset, has_more}`. @param further fields */
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

/** The fields beside the rows. */
export function pageAnswer({ limit, offset }: Page, { total, rows }: { total: number; rows: number }) {
  return { total, limit, offset, has_more: offset + rows < total };
}

/** For a page that may have fewer rows because of their size, which only MCP's have. */
export function shortPageAnswer(page: Page, { total, rows }: { total: number; rows: number }) {
  const next = page.offset + rows;
  const isShort = rows > 0 && rows < page.limit && next < total;
  return { ...pageAnswer(page, { total, rows }), ...(isShort && { next_offset: next }) };
}

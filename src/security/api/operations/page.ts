/** The fields and the envelope of lists with limit and offset, which shows whether rows are missing. */
import { Type, type TSchema } from "@sinclair/typebox";
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
  limit: Type.Integer({ description: "Maximum of rows; fewer if the answer had no room for more" }),
  offset: Type.Integer({ description: "Number of skipped rows" }),
  has_more: Type.Boolean({ description: "Whether more rows follow" }),
};

/** `data` of a list: `{<plural>: […], total, limit, offset, has_more}`. */
export function listData<const Plural extends string, Row extends TSchema>(plural: Plural, row: Row) {
  const rows = { [plural]: Type.Array(row, { description: "The rows" }) } as {
    [Name in Plural]: ReturnType<typeof Type.Array<Row>>;
  };
  return Type.Object({ ...rows, ...pageData }, { description: "One page of the list" });
}

/** The fields beside the rows. */
export function pageAnswer({ limit, offset }: Page, { total, rows }: { total: number; rows: number }) {
  return { total, limit, offset, has_more: offset + rows < total };
}

/** For a page that may have fewer rows because of their size. Its `limit` is then their number, so that adding it to `offset` skips none. */
export function truncatedPageAnswer({ limit, offset }: Page, { total, rows }: { total: number; rows: number }) {
  const isShort = rows > 0 && rows < Math.min(limit, total - offset);
  return { ...pageAnswer({ limit: isShort ? rows : limit, offset }, { total, rows }), isShort };
}

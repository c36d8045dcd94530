/** Lists by limit and offset: what they take, and the envelope of what they give, so that nothing is hidden in silence. */
import { Type, type TSchema } from "@sinclair/typebox";
import { wholeNumber } from "./fields.ts";

/** `limit` and `offset` of a list. @param max left out: any limit is taken, and the operation says which one it keeps to */
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
  total: Type.Integer({ description: "How many there are in all" }),
  limit: Type.Integer({ description: "Rows at most; where fewer fit into one answer, how many did" }),
  offset: Type.Integer({ description: "Rows that were skipped" }),
  has_more: Type.Boolean({ description: "Whether there are rows after these" }),
};

/** `data` of a list: `{<plural>: […], total, limit, offset, has_more}`. */
export function listData<const Plural extends string, Row extends TSchema>(plural: Plural, row: Row) {
  const rows = { [plural]: Type.Array(row, { description: "The rows" }) } as {
    [Name in Plural]: ReturnType<typeof Type.Array<Row>>;
  };
  return Type.Object({ ...rows, ...pageData }, { description: "One page of the list" });
}

/** What stands beside the rows. */
export function pageAnswer({ limit, offset }: Page, { total, rows }: { total: number; rows: number }) {
  return { total, limit, offset, has_more: offset + rows < total };
}

/** The same for a page that may be short of rows for their length: its `limit` is then what it has, so that adding it to `offset` skips none. */
export function truncatedPageAnswer({ limit, offset }: Page, { total, rows }: { total: number; rows: number }) {
  const isShort = rows > 0 && rows < Math.min(limit, total - offset);
  return { ...pageAnswer({ limit: isShort ? rows : limit, offset }, { total, rows }), isShort };
}

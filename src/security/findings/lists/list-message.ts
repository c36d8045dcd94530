interface Told {
  plural: string;
  page: { total: number; offset: number };
  rows: number;
  /** Whether more rows were asked for, and no more fit. */
  isShort: boolean;
  /** Whether a text of these rows is not whole. */
  cut: boolean;
  /** What to try where there is nothing at all; null: nothing. */
  emptyAdvice: string | null;
  more?: string | null;
}

/** The sentences beside a page: how much of the list it is, and what else to know of it. */
export function listMessage({ plural, page: { total, offset }, rows, isShort, cut, emptyAdvice, more = null }: Told): string {
  return [
    `${rows} of ${total} ${plural}`,
    rows === 0 && total > 0 && `The offset ${offset} is beyond the last of them`,
    total === 0 && emptyAdvice,
    more,
    isShort && `No more fit into one answer: the next begin at the offset ${offset + rows}`,
    cut && "Long texts are cut: they end with …",
  ]
    .filter((sentence) => typeof sentence === "string")
    .join(". ");
}

interface ListSummary {
  plural: string;
  /** `next_offset`: the page has fewer rows than requested, because no more fit. */
  page: { total: number; offset: number; next_offset?: number };
  rows: number;
  /** Whether a text of these rows was cut. */
  cut: boolean;
  /** What to try when the list is empty; null: nothing. */
  emptyAdvice: string | null;
  more?: string | null;
  /** What an empty list says nothing of; null: it is a verdict on all that was scanned. */
  blind: string | null;
}

/** The message of a page: how much of the list it is, and how to get the rest. */
export function listMessage({
  plural,
  page: { total, offset, next_offset: next },
  rows,
  cut,
  emptyAdvice,
  more = null,
  blind,
}: ListSummary): string {
  return [
    `${rows} of ${total} ${plural}`,
    rows === 0 && total > 0 && `The offset ${offset} is beyond the last row`,
    total === 0 && emptyAdvice,
    total === 0 && blind,
    more,
    next !== undefined && `No more rows fit into one response: the next page begins at the offset ${next}`,
    cut && "Long texts are cut: they end with …",
  ]
    .filter((sentence) => typeof sentence === "string")
    .join(". ");
}

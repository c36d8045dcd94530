/**
 * A table that becomes a list of rows where it is too narrow, and the links to its next rows. It needs no script. Roles are written out,
 * because browsers drop those of a table that is laid out as a list.
 */
import { markup, type Html } from "../../http/html.ts";
import { content, type Content } from "./values.ts";

export interface Column<Row> {
  label: string;
  /** Numbers and money are at the end of their cell; times, numbers and money do not wrap. `actions` has no visible heading. */
  kind: "text" | "number" | "money" | "time" | "badge" | "actions";
  /** null shows a dash. */
  cell: (row: Row) => Content | null;
}

interface Table<Row> {
  /** What the rows are, such as "Active keys"; read by screen readers, and shown if `captioned`. */
  caption: string;
  captioned?: boolean;
  /** The first one names the row. */
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** In place of a table without rows. */
  empty: Html;
  /** Sums below the rows, one for each column; null leaves a cell empty. */
  totals?: readonly (Content | null)[];
}

/** The roles are explicit, because browsers drop those of a table that is laid out as a list. */
export function table<Row>({ caption, captioned = false, columns, rows, empty, totals }: Table<Row>): Html {
  if (rows.length === 0) return empty;
  const headings = columns.map(
    ({ label, kind }) =>
      markup`<th role="columnheader" scope="col" class="of-${kind}">${kind === "actions" ? markup`<span class="unseen">${label}</span>` : label}</th>`,
  );
  const body = rows.map(
    (row) =>
      markup`<tr role="row">${columns.map((column, index) => cell(column, { given: column.cell(row), first: index === 0 }))}</tr>`,
  );
  const sums =
    totals === undefined
      ? null
      : markup`<tfoot role="rowgroup"><tr role="row">${columns.map((column, index) => cell(column, { given: totals[index] ?? markup``, first: index === 0 }))}</tr></tfoot>`;
  return markup`<div class="sheet ${widthOf(columns.length)}"><table role="table" class="rows">
    <caption${captioned ? null : markup` class="unseen"`}>${caption}</caption>
    <thead role="rowgroup"><tr role="row">${headings}</tr></thead>
    <tbody role="rowgroup">${body}</tbody>${sums}
  </table></div>`;
}

function cell<Row>({ label, kind }: Column<Row>, { given, first }: { given: Content | null; first: boolean }): Html {
  const shown = given === null ? markup`<span class="none" aria-label="none">–</span>` : content(given);
  if (first) return markup`<th role="rowheader" scope="row" class="of-${kind}"><div>${shown}</div></th>`;
  return markup`<td role="cell" class="of-${kind}" data-label="${label}"><div>${shown}</div></td>`;
}

/** The width from which the columns are side by side. */
function widthOf(columns: number): string {
  return columns <= 5 ? "few" : "many";
}

// Links to the next and to the first rows of a list that is read by a cursor.

/** @param shown such as "50 requests"; null addresses are left out, and without any there is no line */
export function cursorLinks({
  shown,
  firstPath,
  nextPath,
}: {
  shown: string;
  firstPath: string | null;
  nextPath: string | null;
}): Html | null {
  if (firstPath === null && nextPath === null) return null;
  return markup`<nav class="pages" aria-label="Pages">
    <p>${shown}</p>
    ${firstPath === null ? null : markup`<a class="button quiet" href="${firstPath}" rel="first">Back to the first</a>`}
    ${nextPath === null ? null : markup`<a class="button quiet" href="${nextPath}" rel="next">Next</a>`}
  </nav>`;
}

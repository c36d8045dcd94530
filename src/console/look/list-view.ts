/**
 * How a reader arranges a list: its order and its columns. Both are in the address, so that a reload keeps them and a link shares them, and
 * both work without a script: a heading is a link, and the columns are a form.
 *
 * Rows are sorted here, and only if all of them are at hand. A list that is longer than its page has the order of the index that it is read
 * by, offers no other and says so: sorted by another column, its first page would need all of its rows.
 */
import { markup, type Html } from "../../http/html.ts";
import { address, hiddenInputs } from "./forms.ts";
import { table, type Column } from "./parts.ts";

export interface ListColumn<Row> extends Column<Row> {
  /** In the address. Absent: the column is always shown, such as that of actions. */
  name?: string;
  /** What rows are sorted by; absent: not by this column. null comes last in both orders. */
  by?: (row: Row) => SortKey;
  /** Shown only if it is chosen. */
  isExtra?: boolean;
  /** Whether its heading first sorts from the largest; absent: numbers, amounts and times do. */
  largestFirst?: boolean;
}

type SortKey = string | number | bigint | null;

interface List<Row> {
  caption: string;
  columns: readonly ListColumn<Row>[];
  rows: readonly Row[];
  empty: Html;
  /** Whether the rows are all of the list. */
  isWhole: boolean;
  /** How they are ordered where nothing is chosen, such as "in order of creation". */
  order: string;
  /** The part of the ordered rows that the page shows; absent: all. */
  part?: { from: number; most: number };
}

interface Place {
  path: string;
  query: URLSearchParams;
}

interface ArrangedList {
  table: Html;
  /** The button that opens the form; null for a list without rows. */
  view: Html | null;
  /** What the links of the page keep, such as those to further rows. */
  kept: Record<string, string>;
}

export function arrangedList<Row>(
  { caption, columns, rows, empty, isWhole, order, part }: List<Row>,
  place: Place,
): ArrangedList {
  const chosen = chosenColumns(columns, place.query);
  const sort = isWhole ? sortIn(columns, place.query) : null;
  const kept = { ...(chosen !== null && { columns: chosen.join(",") }), ...(sort !== null && { sort: sortText(sort) }) };
  const shown = columns.filter(
    ({ name, isExtra = false }, index) => index === 0 || name === undefined || (chosen?.includes(name) ?? !isExtra),
  );
  const headed = shown.map((column) => (isWhole ? sortable(column, { sort, place, kept }) : column));
  const sorted = sort === null ? rows : sortedRows(rows, sort);
  const parted = part === undefined ? sorted : sorted.slice(part.from, part.from + part.most);
  return {
    table: table<Row>({ caption, columns: headed, rows: parted, empty }),
    view: rows.length === 0 ? null : viewForm({ columns, shown, sort, isWhole, order }, place),
    kept,
  };
}

/** The names in the address that the list has; null: none, thus the usual columns. */
function chosenColumns(columns: readonly ListColumn<never>[], query: URLSearchParams): string[] | null {
  const named = new Set(query.getAll("columns").flatMap((text) => text.split(",")));
  const known = columns.flatMap(({ name }) => (name !== undefined && named.has(name) ? [name] : []));
  return known.length === 0 ? null : known;
}

/** What links and forms keep of an arrangement where they do not know the list's columns, such as those of filters. */
export function arrangementIn(query: URLSearchParams): Record<string, string> {
  const [columns, sort] = [query.getAll("columns").join(","), query.get("sort") ?? ""];
  const isSet = (text: string): boolean => /^[a-z,_-]{1,200}$/.test(text);
  return { ...(isSet(columns) && { columns }), ...(isSet(sort) && { sort }) };
}

// The order of the rows.

interface Sort<Row> {
  name: string;
  by: (row: Row) => SortKey;
  descends: boolean;
}

/** `spent` in the address is ascending, `-spent` descending; a name that the list lacks is ignored. */
function sortIn<Row>(columns: readonly ListColumn<Row>[], query: URLSearchParams): Sort<Row> | null {
  const text = query.get("sort") ?? "";
  const descends = text.startsWith("-");
  const column = columns.find(({ name }) => name !== undefined && name === text.slice(descends ? 1 : 0));
  return column?.name === undefined || column.by === undefined ? null : { name: column.name, by: column.by, descends };
}

function sortText({ name, descends }: Pick<Sort<never>, "name" | "descends">): string {
  return `${descends ? "-" : ""}${name}`;
}

/** Numbers within texts count as numbers, so that `key 9` comes before `key 10`. */
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function sortedRows<Row>(rows: readonly Row[], { by, descends }: Sort<Row>): Row[] {
  const keyed = rows.map((row) => ({ row, key: by(row) }));
  keyed.sort((one, other) => {
    if (one.key === null || other.key === null) return Number(one.key === null) - Number(other.key === null);
    return descends ? compared(other.key, one.key) : compared(one.key, other.key);
  });
  return keyed.map(({ row }) => row);
}

function compared(one: NonNullable<SortKey>, other: NonNullable<SortKey>): number {
  if (typeof one === "string" && typeof other === "string") return collator.compare(one, other);
  return one < other ? -1 : Number(one > other);
}

function sortable<Row>(
  column: ListColumn<Row>,
  { sort, place, kept }: { sort: Sort<Row> | null; place: Place; kept: Record<string, string> },
): Column<Row> {
  const { name, by, label, kind, largestFirst = kind !== "text" && kind !== "badge" } = column;
  if (name === undefined || by === undefined) return column;
  const isSorted = sort?.name === name;
  const descends = isSorted ? !sort.descends : largestFirst;
  const path = address(place.path, { ...keptQuery(place.query), ...kept, sort: sortText({ name, descends }) });
  const heading = markup`<a href="${path}">${label}</a>`;
  return { ...column, heading, ...(isSorted && { sorted: sort.descends ? ("descending" as const) : ("ascending" as const) }) };
}

/** What a new order or other columns do not change, such as filters. Both begin at the first rows. */
function keptQuery(query: URLSearchParams): Record<string, string> {
  const own = new Set(["sort", "columns", "after", "before", "skip", "as"]);
  return Object.fromEntries([...query].filter(([name]) => !own.has(name)));
}

// The form that chooses columns, and the order where the headings are not side by side.

interface View<Row> extends Pick<List<Row>, "columns" | "isWhole" | "order"> {
  shown: readonly ListColumn<Row>[];
  sort: Sort<Row> | null;
}

function viewForm<Row>({ columns, shown, sort, isWhole, order }: View<Row>, { path, query }: Place): Html {
  const kept = keptQuery(query);
  const hidden = hiddenInputs(kept);
  const boxes = columns.flatMap((column, index) => columnBox(column, { isFirst: index === 0, isShown: shown.includes(column) }));
  const ordering = isWhole
    ? sortChoice(columns, { sort, order })
    : markup`<p class="hint">There are too many rows to sort: they are ${order}.</p>`;
  return markup`<details class="view"><summary class="button quiet">View</summary>
    <form method="get" action="${path}">
      ${hidden}<fieldset class="field"><legend>Columns</legend>${boxes}</fieldset>
      ${ordering}
      <p class="form-end"><button type="submit">Apply</button><a class="button quiet" href="${address(path, kept)}">Reset</a></p>
    </form>
  </details>`;
}

/** The first column names the row, and is always sent, so that a form without others differs from none. */
function columnBox<Row>({ name, label }: ListColumn<Row>, { isFirst, isShown }: { isFirst: boolean; isShown: boolean }): Html[] {
  if (name === undefined) return [];
  if (isFirst) return [markup`<input type="hidden" name="columns" value="${name}" />`];
  const checked = isShown ? markup` checked` : null;
  return [
    markup`<label class="choice"><input type="checkbox" name="columns" value="${name}"${checked} autocomplete="off" /><span>${label}</span></label>`,
  ];
}

function sortChoice<Row>(
  columns: readonly ListColumn<Row>[],
  { sort, order }: { sort: Sort<Row> | null; order: string },
): Html | null {
  const current = sort === null ? "" : sortText(sort);
  const choices = columns.flatMap(({ name, label, by }): [string, string][] =>
    name === undefined || by === undefined
      ? []
      : [
          [name, `${label}, ascending`],
          [`-${name}`, `${label}, descending`],
        ],
  );
  if (choices.length === 0) return null;
  const options = [["", `As usual: ${order}`] as const, ...choices].map(
    ([value, label]) => markup`<option value="${value}"${value === current ? markup` selected` : null}>${label}</option>`,
  );
  return markup`<div class="field"><label for="view-sort">Sort by</label><select id="view-sort" name="sort" autocomplete="off">${options}</select></div>`;
}

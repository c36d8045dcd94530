/**
 * Fits the rows of a page into a number of bytes. Explanatory texts lose their ends first, the longest texts before others. Names that a
 * row has twice then lose their middles, if that is enough. Other names are cut only beyond 512 bytes. An ellipsis marks every cut.
 *
 * No row is dropped: a page with very long names exceeds its limit. Only MCP clients, which cannot hold long answers, get fewer rows; the
 * last ones then move to the next page. Sizes are in bytes of JSON, because that is what a client receives.
 */

const ellipsis = "…";

/** In the order in which they are cut. */
const kinds = ["explaining", "repeated", "name"] as const;
type TextKind = (typeof kinds)[number];

/** Views call this for each text that may be cut. The default kind is `explaining`. @returns the text, whole or cut, with an ellipsis */
export interface Shorten {
  (text: string, kind?: TextKind): string;
  (text: string | null, kind?: TextKind): string | null;
}

/** Cuts nothing: for a row that is shown on its own. */
export const uncut = ((text: string | null) => text) as Shorten;

interface FittedPage<Row> {
  rows: Row[];
  /** Whether a text was cut. */
  cut: boolean;
}

interface PageToFit<Item> {
  items: readonly Item[];
  /** The size of all rows as JSON. */
  bytesMax: number;
  /** Whether the last rows may be left out; the first row is always included. */
  isShortened: boolean;
}

/** @param view creates a row; it passes the texts that may be cut to `shorten` */
export function fitPage<Item, Row>(
  { items, bytesMax, isShortened }: PageToFit<Item>,
  view: (item: Item, shorten: Shorten) => Row,
): FittedPage<Row> {
  const all = items.map((item) => measure(item, view));
  const kept = isShortened ? all.slice(0, rowsThatFit(all, bytesMax)) : all;
  const longest = longestTexts(kept, bytesMax);
  let isCut = false;
  const shorten = ((text: string | null, kind: TextKind = "explaining") => {
    const shown = text === null ? null : kind === "explaining" ? cutEnd(text, longest[kind]) : cutMiddle(text, longest[kind]);
    isCut ||= shown !== text || shown?.endsWith(ellipsis) === true;
    return shown;
  }) as Shorten;
  const rows = kept.map(({ item }) => view(item, shorten));
  return { rows, cut: isCut };
}

type Sizes = Record<TextKind, number[]>;

interface Measured<Item> {
  item: Item;
  /** Size of the row as JSON, with the comma after it and without the texts that may be cut. */
  fixedBytes: number;
  sizes: Sizes;
}

const nameBytesMin = 512;

/** The comma between two rows. */
const commaBytes = 1;

function measure<Item>(item: Item, view: (item: Item, shorten: Shorten) => unknown): Measured<Item> {
  const sizes: Sizes = { explaining: [], repeated: [], name: [] };
  let inRow = 0;
  const measured = ((text: string | null, kind: TextKind = "explaining") => {
    const bytes = jsonBytes(text ?? "");
    sizes[kind].push(bytes);
    // Long texts are only measured, not written a second time.
    if (bytes > nameBytesMin) return "";
    inRow += bytes;
    return text;
  }) as Shorten;
  const row = view(item, measured);
  return { item, fixedBytes: Buffer.byteLength(JSON.stringify(row)) + commaBytes - inRow, sizes };
}

/** Without the quotes. */
function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

/** Counts the rows that fit when every explaining text is cut to the ellipsis and every name is whole; at least one. */
function rowsThatFit(measured: readonly Measured<unknown>[], bytesMax: number): number {
  let bytes = 0;
  for (const [index, { fixedBytes, sizes }] of measured.entries()) {
    const cut = sizes.explaining.map((size) => Math.min(size, jsonBytes(ellipsis)));
    bytes += fixedBytes + sum([...cut, ...sizes.repeated, ...sizes.name]);
    if (bytes > bytesMax && index > 0) return index;
  }
  return measured.length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** The most bytes for a text of each kind, so that the rows fit, or come as close as the kinds allow. */
function longestTexts(measured: readonly Measured<unknown>[], bytesMax: number): Record<TextKind, number> {
  const longest: Record<TextKind, number> = { explaining: Infinity, repeated: Infinity, name: Infinity };
  const fixed = sum(measured.map(({ fixedBytes }) => fixedBytes));
  const sizesOf = (kind: TextKind) => measured.flatMap(({ sizes }) => sizes[kind]);
  const bytesOf = (kind: TextKind) => sum(sizesOf(kind).map((size) => Math.min(size, longest[kind])));
  for (const kind of kinds) {
    const others = sum(kinds.filter((one) => one !== kind).map(bytesOf));
    longest[kind] = atLeast(kind, longestText(sizesOf(kind), bytesMax - fixed - others));
    if (longest[kind] === Infinity) break;
  }
  return longest;
}

/** The least that remains of a repeated name, in bytes of JSON. */
const repeatedBytesMin = 30;

/** Repeated names keep up to 512 bytes if cutting them further would not make the page fit. */
function atLeast(kind: TextKind, bytes: number): number {
  if (kind === "explaining") return Math.max(bytes, jsonBytes(ellipsis));
  return kind === "repeated" && bytes >= repeatedBytesMin ? bytes : Math.max(bytes, nameBytesMin);
}

/**
 * The most bytes for one text, so that all texts together fit into `bytesMax`. Long texts use the bytes that short ones leave.
 * @returns Infinity when all texts fit
 */
function longestText(sizes: readonly number[], bytesMax: number): number {
  let left = bytesMax;
  for (const [index, size] of sizes.toSorted((one, other) => one - other).entries()) {
    const share = Math.floor(left / (sizes.length - index));
    if (size > share) return Math.max(share, 0);
    left -= size;
  }
  return Infinity;
}

function cutEnd(text: string, bytesMax: number): string {
  if (fits(text, bytesMax)) return text;
  return beginning(Array.from(text.slice(0, bytesMax)), bytesMax - jsonBytes(ellipsis)).join("") + ellipsis;
}

/** Each UTF-16 unit takes at least one byte. */
function fits(text: string, bytesMax: number): boolean {
  return text.length <= bytesMax && (bytesMax === Infinity || jsonBytes(text) <= bytesMax);
}

function beginning(characters: readonly string[], bytesMax: number): string[] {
  let left = bytesMax;
  const end = characters.findIndex((character) => (left -= jsonBytes(character)) < 0);
  return characters.slice(0, end === -1 ? characters.length : end);
}

/** Names with the same origin often differ only in their last characters. */
function cutMiddle(text: string, bytesMax: number): string {
  if (fits(text, bytesMax)) return text;
  const room = Math.floor((bytesMax - jsonBytes(ellipsis)) / 2);
  // One UTF-16 unit more than fits: a surrogate pair is kept whole or dropped.
  const [first, last] = [text.slice(0, room + 1), text.slice(-room - 1)];
  const end = beginning(Array.from(last).toReversed(), room).toReversed();
  return beginning(Array.from(first), room).join("") + ellipsis + end.join("");
}

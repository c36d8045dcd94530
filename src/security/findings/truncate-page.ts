/**
 * Limits pages of lists to a number of bytes. A name, a version and a package URL are never cut. When a page is too long, its longest
 * descriptive texts are cut; when that is not enough, its last rows move to the next page.
 */

const ending = "…";
/** The comma between two rows. */
const commaBytes = 1;

/** A view calls this for each descriptive text. @returns the text, whole or cut to end with an ellipsis */
export type Shorten = (text: string | null) => string | null;

interface Measured<Item, Row> {
  item: Item;
  row: Row;
  /** Size of the row as JSON, with the comma after it and without the texts that may be cut. */
  fixedBytes: number;
  textBytes: number[];
}

export interface TruncatedPage<Row> {
  /** As many as fit; the first row is always included, however long it is. */
  rows: Row[];
  /** Whether a text was cut. */
  cut: boolean;
}

/** @param bytesMax the size of all rows as JSON. @param view creates a row; it passes the texts that may be cut to `shorten` */
export function truncatePage<Item, Row>(
  { items, bytesMax }: { items: readonly Item[]; bytesMax: number },
  view: (item: Item, shorten: Shorten) => Row,
): TruncatedPage<Row> {
  const measured = items.map((item) => measure(item, view));
  const kept = measured.slice(0, rowsThatFit(measured, bytesMax));
  const fixedBytes = kept.reduce((sum, row) => sum + row.fixedBytes, 0);
  const sizes = kept.flatMap(({ textBytes }) => textBytes);
  const textBytesMax = longestText(sizes, bytesMax - fixedBytes);
  if (textBytesMax === Infinity) return { rows: kept.map(({ row }) => row), cut: false };
  const shorten: Shorten = (text) => (text === null ? null : cutText(text, textBytesMax));
  return { rows: kept.map(({ item }) => view(item, shorten)), cut: true };
}

function measure<Item, Row>(item: Item, view: (item: Item, shorten: Shorten) => Row): Measured<Item, Row> {
  const textBytes: number[] = [];
  const row = view(item, (text) => {
    textBytes.push(jsonBytes(text ?? ""));
    return text;
  });
  const bytes = Buffer.byteLength(JSON.stringify(row)) + commaBytes;
  return { item, row, fixedBytes: textBytes.reduce((left, size) => left - size, bytes), textBytes };
}

/** Counts the rows that fit when every text is cut to the ellipsis; at least one. */
function rowsThatFit(measured: readonly Measured<unknown, unknown>[], bytesMax: number): number {
  const endingBytes = jsonBytes(ending);
  let bytes = 0;
  for (const [index, { fixedBytes, textBytes }] of measured.entries()) {
    bytes += textBytes.reduce((sum, size) => sum + Math.min(size, endingBytes), fixedBytes);
    if (bytes > bytesMax) return Math.max(index, 1);
  }
  return measured.length;
}

/**
 * The most bytes that one text may have, so that all texts together fit into `bytesMax`. Long texts use the bytes that short ones leave.
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

function cutText(text: string, bytesMax: number): string {
  if (jsonBytes(text) <= bytesMax) return text;
  let kept = "";
  let left = bytesMax - jsonBytes(ending);
  if (left < 0) return "";
  for (const character of text) {
    left -= jsonBytes(character);
    if (left < 0) break;
    kept += character;
  }
  return kept + ending;
}

/** Without the quotes. */
function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

/**
 * Keeps pages of lists within a number of bytes. What names something is never cut: a name, a version, a package URL. Where a page
 * is too long, its longest explaining texts are cut, and where that is not enough, its last rows are left for the next page.
 */

const ending = "…";
/** Between two rows. */
const commaBytes = 1;

/** What a view passes an explaining text through. @returns it whole, or cut to end with an ellipsis */
export type Shorten = (text: string | null) => string | null;

interface Measured<Item, Row> {
  item: Item;
  row: Row;
  /** As JSON, with the comma after it and without the texts that may be cut. */
  fixedBytes: number;
  textBytes: number[];
}

export interface TruncatedPage<Row> {
  /** Fewer than there were items where these alone fit; the first one is always there, however long it is. */
  rows: Row[];
  /** Whether a text is not whole. */
  cut: boolean;
}

/** @param bytesMax of all rows as JSON. @param view makes a row; what may be cut goes through `shorten` */
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

/** With texts that are nothing but the ellipsis; at least one. */
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
 * What each text may take at most, so that all together take no more than `bytesMax`: what the short ones leave is the long ones'.
 * @returns Infinity where all fit
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

/** Without the quotes around it. */
function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

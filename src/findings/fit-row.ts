/** Keeps rows of lists small whatever texts they hold: the longest are cut, the others stay. */

const ending = "…";
/** Between two rows. */
const commaBytes = 1;

type Texts = Record<string, string | null>;

/**
 * A row of a list that takes at most `bytesMax` bytes as JSON, with the comma after it. Texts that were cut end with an ellipsis,
 * unless there is no room for one.
 * @param texts what may be cut, by the names that `make` takes it by
 */
export function fitRow<Row, Named extends Texts>(
  { texts, bytesMax }: { texts: Named; bytesMax: number },
  make: (texts: Named) => Row,
): { row: Row; cut: boolean } {
  const row = make(texts);
  const bytes = Buffer.byteLength(JSON.stringify(row)) + commaBytes;
  if (bytes <= bytesMax) return { row, cut: false };
  const sizes = Object.values(texts).map((text) => jsonBytes(text ?? ""));
  const textBytes = sizes.reduce((sum, size) => sum + size, 0);
  return { row: make(cutTexts(texts, shareOf(sizes, bytesMax - (bytes - textBytes)))), cut: true };
}

function cutTexts<Named extends Texts>(texts: Named, bytesMax: number): Named {
  const cut = ([name, text]: [string, string | null]) => [name, text === null ? null : cutText(text, bytesMax)];
  return sameNames(Object.fromEntries(Object.entries(texts).map(cut)));
}

/** What each may take at most, so that all together take no more than `bytesMax`: what the short ones leave is the long ones'. */
function shareOf(sizes: number[], bytesMax: number): number {
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

/** The names are those that came, and so is which texts are null. */
function sameNames<Named extends Texts>(texts: Texts): Named {
  return texts as Named;
}

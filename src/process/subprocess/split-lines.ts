const lineEnd = 0x0a;

/** Splits pieces into lines without line ends; a text after the last line end is dropped. */
export async function* splitLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let begun: Uint8Array[] = [];
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf(lineEnd); end !== -1; end = piece.indexOf(lineEnd, start)) {
      yield Buffer.concat([...begun, piece.subarray(start, end)]).toString("utf8");
      begun = [];
      start = end + 1;
    }
    if (start < piece.length) begun.push(piece.subarray(start));
  }
}

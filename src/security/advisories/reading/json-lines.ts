/** The lines of an NDJSON document. A broken line does not affect the others. */
import type { Bytes } from "../../archives/byte-reader.ts";
import { ValueBytes, type Piece } from "./json-values.ts";

const newline = 0x0a;

export async function* jsonLines(pieces: AsyncIterable<Bytes>): AsyncGenerator<Piece> {
  const line = new ValueBytes();
  let number = 1;
  const close = (last: Bytes): Piece[] => {
    const piece = { at: `:${number++}`, ...line.close(last) };
    return "problem" in piece || piece.text.trim() !== "" ? [piece] : [];
  };
  line.open();
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf(newline); end !== -1; end = piece.indexOf(newline, start)) {
      yield* close(piece.subarray(start, end));
      line.open();
      start = end + 1;
    }
    line.keep(piece.subarray(start));
  }
  yield* close(new Uint8Array(0));
}

/** Decompresses answers that a provider compresses although we did not ask for it. */
import { Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { nextBytes } from "./next-bytes.ts";
import type { Body } from "./transport.ts";

const decompressors: Record<string, () => Transform> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * Decompresses a body.
 * @param coding its `content-encoding`
 * @throws Error for an unknown coding
 */
export function decompressed(body: Body, coding: string): Body {
  const unpacker = decompressors[coding.toLowerCase()]?.();
  if (unpacker === undefined) throw new Error("its content coding is not known");
  const packed = Readable.from(pieces(body));
  packed.on("error", (error) => unpacker.destroy(error));
  const iterator: AsyncIterator<Uint8Array> = packed.pipe(unpacker)[Symbol.asyncIterator]();
  return {
    read(receiver) {
      iterator.next().then(
        ({ done, value }) => receiver.take(done === true ? null : value),
        (reason: unknown) => receiver.fail(reason),
      );
    },
  };
}

async function* pieces(body: Body): AsyncGenerator<Uint8Array> {
  for (let bytes = await nextBytes(body); bytes !== null; bytes = await nextBytes(body)) yield bytes;
}

/** A part of the bytes that came in one piece. */
import { Buffer } from "node:buffer";

/**
 * Up to here a copy is cheaper than a view: JavaScriptCore keeps a small buffer among its objects until the first view of it, which
 * moves it to memory of its own, to be given back one by one in the collector's pause.
 * Source: `fastSizeLimit` of https://github.com/WebKit/WebKit/blob/main/Source/JavaScriptCore/runtime/JSArrayBufferView.h
 */
const copiedBytesMax = 1_000;

export function sliceBytes(bytes: Buffer, start: number, end: number): Buffer {
  if (bytes.length > copiedBytesMax) return bytes.subarray(start, end);
  const part = Buffer.allocUnsafe(end - start);
  bytes.copy(part, 0, start, end);
  return part;
}

/** Returns a part of the bytes that arrived in one piece. */
import { Buffer } from "node:buffer";

/**
 * Up to this size a copy is cheaper than a view. JavaScriptCore keeps a small buffer among its objects until its first view,
 * which moves it to separate memory that the collector then frees one by one during its pause. Source: `fastSizeLimit` of
 * https://github.com/WebKit/WebKit/blob/main/Source/JavaScriptCore/runtime/JSArrayBufferView.h
 */
const copiedBytesMax = 1_000;

export function sliceBytes(bytes: Buffer, start: number, end: number): Buffer {
  if (bytes.length > copiedBytesMax) return bytes.subarray(start, end);
  const part = Buffer.allocUnsafe(end - start);
  bytes.copy(part, 0, start, end);
  return part;
}

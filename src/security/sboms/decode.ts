/** Decodes bytes to text, as the formats allow: UTF-8 with or without a byte order mark, and for XML also UTF-16 with one. */
import { SbomRefusal } from "./refusal.ts";

const xmlEncoding = /^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']/;

/** @throws SbomRefusal wrong_encoding */
export function decodeSbom(bytes: Uint8Array): string {
  const utf16 = utf16Of(bytes);
  if (utf16 !== null) return decodedUtf16(bytes, utf16);
  const body = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
  const declared = xmlEncoding.exec(new TextDecoder("latin1").decode(body.subarray(0, 300)))?.[1];
  if (declared !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(declared)) {
    throw new SbomRefusal(
      "wrong_encoding",
      `The document says that it is encoded in ${declared}; save it as UTF-8 and say so in its first line`,
    );
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw new SbomRefusal("wrong_encoding", "The document is not valid UTF-8; save it as UTF-8");
  }
}

/** Detected by the byte order mark, or by the zero in every second byte. */
function utf16Of(bytes: Uint8Array): "utf-16le" | "utf-16be" | null {
  const [first = 1, second = 1] = bytes;
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return "utf-16le";
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0) ? "utf-16be" : null;
}

/** RFC 8259 8.1 requires UTF-8 for JSON, SPDX also for tag-value documents; XML 1.0 4.3.3 allows UTF-16 with its mark. */
function decodedUtf16(bytes: Uint8Array, encoding: "utf-16le" | "utf-16be"): string {
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new SbomRefusal("wrong_encoding", "The document is not valid UTF-16; save it as UTF-8");
  }
  const marked = bytes[0] === 0xff || bytes[0] === 0xfe;
  if (!marked || !/^\s*</.test(text)) {
    throw new SbomRefusal(
      "wrong_encoding",
      "The document is encoded in UTF-16, which only XML with a byte order mark may be; save it as UTF-8",
    );
  }
  const declared = xmlEncoding.exec(text)?.[1];
  if (declared !== undefined && !/^utf-?16(?:[lb]e)?$/i.test(declared)) {
    throw new SbomRefusal(
      "wrong_encoding",
      `The document is encoded in UTF-16 and says that it is in ${declared}; save it as UTF-8`,
    );
  }
  return text;
}

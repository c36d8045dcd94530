/**
 * The text of a lock file's bytes.
 *
 * A byte order mark decides: Windows PowerShell 5 writes `pip freeze > requirements.txt` in UTF-16. Without one, XML declares its encoding
 * (https://www.w3.org/TR/xml/#charencoding), and a requirements file may name it in a comment as Python's source does
 * (https://peps.python.org/pep-0263/); pip reads any other in the encoding of the machine, so bytes that are not UTF-8 are read as Latin-1.
 * Names and versions are ASCII in all of these. Everything else is UTF-8, and is refused if it is not.
 */
import { lockFileBytesMax } from "../limits.ts";
import { LockFileError, quoted } from "./lock-graph.ts";

/** @param declared how the format names its encoding @throws LockFileError */
export function lockText(bytes: Uint8Array, declared?: "xml" | "python"): string {
  if (bytes.length > lockFileBytesMax) throw new LockFileError(`is larger than ${lockFileBytesMax / 1024 / 1024} MiB`);
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, startBytes));
  if (start.startsWith(lfsMark)) throw new LockFileError("is a pointer of Git LFS; the file itself is needed");
  const [mark, marked] = marks.find(([sign]) => start.startsWith(sign)) ?? utf16By(start) ?? [];
  if (marked !== undefined)
    return (
      decoded(bytes, marked) ?? refuse(`is not valid ${marked.toUpperCase()}, as its ${mark === "" ? "zeros say" : "mark says"}`)
    );
  if (declared === "xml") return xmlText(bytes, start);
  const named = declared === "python" ? codingNamed(start) : null;
  const text = (named === null ? null : decoded(bytes, named)) ?? decoded(bytes, "utf-8");
  return text ?? (declared === "python" ? decoded(bytes, "latin1") : null) ?? refuse("is not valid UTF-8");
}

/** https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md */
const lfsMark = "version https://git-lfs.github.com/spec/";

/** A declaration is within so many bytes. */
const startBytes = 512;

/** Byte order marks, with each byte as one character. */
const marks = [
  ["\u00ef\u00bb\u00bf", "utf-8"],
  ["\u00ff\u00fe", "utf-16le"],
  ["\u00fe\u00ff", "utf-16be"],
] as const;

/** Without a mark: every lock file begins with an ASCII character, which has a zero beside it. */
function utf16By(start: string): readonly ["", "utf-16le" | "utf-16be"] | null {
  const [first, second] = [start.charCodeAt(0), start.charCodeAt(1)];
  if (first > 0 && second === 0) return ["", "utf-16le"];
  return first === 0 && second > 0 ? ["", "utf-16be"] : null;
}

/** The declaration could be read byte by byte, so one of UTF-16 is wrong: .NET writes it into files that it saves as UTF-8. */
function xmlText(bytes: Uint8Array, start: string): string {
  const written = /^<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(start)?.[1] ?? "utf-8";
  const encoding = /^utf-?16/i.test(written) ? "utf-8" : written;
  if (decoderOf(encoding) === null) return refuse(`declares the encoding ${quoted(written)}, which is not known`);
  return decoded(bytes, encoding) ?? refuse(`is not valid ${written.toUpperCase()}`);
}

/** From a comment in the first two lines; null for one that is not known. */
function codingNamed(start: string): string | null {
  for (const line of start.split(/\r?\n/, 2)) {
    const written = /^[ \t\f]*#.*?coding[:=][ \t]*([\w.-]{1,40})/.exec(line)?.[1]?.replaceAll("_", "-");
    const label = written?.toLowerCase().replace(/^latin-/, "latin");
    if (label !== undefined && decoderOf(label) !== null) return label;
  }
  return null;
}

/** null if the bytes are not valid in the encoding. */
function decoded(bytes: Uint8Array, encoding: string): string | null {
  try {
    return decoderOf(encoding)?.decode(bytes) ?? null;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return null;
  }
}

/** By the names of https://encoding.spec.whatwg.org/#names-and-labels; null for any other, which the constructor refuses. */
function decoderOf(encoding: string): TextDecoder | null {
  try {
    return new TextDecoder(encoding as ConstructorParameters<typeof TextDecoder>[0], { fatal: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return null;
  }
}

function refuse(reason: string): never {
  throw new LockFileError(reason);
}

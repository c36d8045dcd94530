/** The lines of a tag-value text: `Tag: value`, comments, and values in `<text>…</text>` that span lines. */
import { sbomValuesMax } from "../../limits.ts";
import { SbomRefusal } from "../refusal.ts";

export interface Tag {
  name: string;
  value: string;
  /** From one. */
  line: number;
}

const opening = "<text>";
const closing = "</text>";

/** @throws SbomRefusal malformed at a line without a tag, truncated within an unfinished text, too_large */
export function* readTags(text: string): Generator<Tag> {
  let line = 1;
  for (let at = 0; at < text.length; line++) {
    if (line > sbomValuesMax) throw new SbomRefusal("too_large", `The document has more than ${sbomValuesMax} lines`);
    const end = endOfLine(text, at);
    const written = text.slice(at, end);
    at = end + 1;
    if (/^\s*(?:#|$)/.test(written)) continue;
    const colon = written.indexOf(":");
    const name = written.slice(0, Math.max(colon, 0)).trim();
    if (!/^[A-Za-z][A-Za-z0-9]*$/.test(name)) {
      throw new SbomRefusal(
        "malformed",
        `line ${line}: the document has no \`Tag: value\` here, but ${JSON.stringify(written.slice(0, 60))}`,
      );
    }
    const value = written.slice(colon + 1).trim();
    if (!value.startsWith(opening)) {
      yield { name, value, line };
      continue;
    }
    const start = end - written.length + written.indexOf(opening) + opening.length;
    const close = text.indexOf(closing, start);
    if (close < 0)
      throw new SbomRefusal("truncated", `line ${line}: the document has a <text> that does not end; upload the whole file`);
    const long = text.slice(start, close);
    yield { name, value: long.trim(), line };
    line += long.split("\n").length - 1;
    at = endOfLine(text, close) + 1;
  }
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

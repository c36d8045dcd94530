/** One file within an archive or a folder. */
import { archiveNameCharactersMax } from "../limits.ts";
import type { Bytes } from "./byte-reader.ts";

export interface Entry {
  /** Within its source, with slashes. */
  name: string;
  /** Why the entry is refused; null: it can be read. */
  refusal: string | null;
  /** Once, and before the next entry is asked for. @throws UnreadableError */
  bytes(): AsyncIterable<Bytes>;
}

/** Of links: whoever takes the files of an archive tells of those that it passes over, or not. */
export const linkRefusal = "is a link, and links are not followed";

/** Nothing is ever written under an entry's name; a name that would leave its folder still tells that the archive is not meant well. */
export function refusalOfName(name: string): string | null {
  if (name.length > archiveNameCharactersMax) return `has a name of more than ${archiveNameCharactersMax} characters`;
  if (/^[/\\]|^[A-Za-z]:/.test(name)) return "has a name that begins at the root of a disk";
  if (name.split(/[/\\]/).includes("..")) return 'has a name that leaves its folder by ".."';
  return name.includes("\0") ? "has a name with a zero byte" : null;
}

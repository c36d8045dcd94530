/** One file within an archive or a folder. */
import { archiveNameCharactersMax } from "../limits.ts";
import type { Bytes } from "./byte-reader.ts";

export interface Entry {
  /** Its path within the source, with slashes. */
  name: string;
  /** Why the entry is refused; null if it can be read. */
  refusal: string | null;
  /** Can be read once, and before the next entry. @throws UnreadableError */
  bytes(): AsyncIterable<Bytes>;
}

/** For links: the caller decides whether to report that it skips them. */
export const linkRefusal = "is a link, and links are not followed";

/** No file is ever written under an entry's name, but a name that leaves its folder shows that the archive is hostile. */
export function refusalOfName(name: string): string | null {
  if (name.length > archiveNameCharactersMax) return `has a name of more than ${archiveNameCharactersMax} characters`;
  if (/^[/\\]|^[A-Za-z]:/.test(name)) return "has a name that begins at the root of a disk";
  if (name.split(/[/\\]/).includes("..")) return 'has a name that leaves its folder by ".."';
  return name.includes("\0") ? "has a name with a zero byte" : null;
}

/** The line of a fault in a tag-value document. */
import { isObject, type JsonValue } from "../json/value.ts";
import { jsonLocation } from "../shape/locations.ts";
import type { Path } from "../shape/validate.ts";
import type { TagValueDocument } from "./tag-value.ts";

/** Such as `line 12 (packages[0].name)`: the line of the field, or of the start of the nearest known section. */
export function lineLocation(path: Path, { value, lines }: TagValueDocument): string {
  let line: number | undefined;
  let at: JsonValue | undefined = value;
  for (const step of path) {
    if (isObject(at)) {
      const known = lines.get(at);
      line = known?.get(String(step)) ?? known?.get("") ?? line;
      at = at[step];
    } else at = Array.isArray(at) ? at[Number(step)] : undefined;
  }
  const begins = isObject(at) ? lines.get(at)?.get("") : undefined;
  const place = jsonLocation(path);
  const found = begins ?? line;
  return found === undefined ? place : `line ${found} (${place})`;
}

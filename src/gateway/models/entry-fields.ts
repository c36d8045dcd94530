/** Types that the entries of the catalog's files share. */
import { Type, type TProperties } from "@sinclair/typebox";

export const Day = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" });
export const Source = Type.String({ pattern: "^https://" });

/** An object of these fields and no others. */
export function strict<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false });
}

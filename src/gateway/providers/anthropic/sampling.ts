/** The sampling fields. */
import type { JsonObject } from "../wire/json.ts";
import type { ChatBody } from "../provider.ts";

/** The default of both fields. Newer models refuse any other value, and older models refuse both fields at once. */
const byDefault = 1;

/** Many clients set both fields, which the API refuses together: then only the temperature is sent. */
export function samplingFields({ temperature, top_p }: ChatBody): JsonObject {
  if (temperature !== undefined && temperature !== byDefault) return { temperature };
  return top_p === undefined || top_p === byDefault ? {} : { top_p };
}

/** How freely the next token is chosen. */
import type { JsonObject } from "../wire/json.ts";
import type { ChatBody } from "../provider.ts";

/** What both are where nothing is said. Newer models refuse to be told more than that, older ones to be told both. */
const byDefault = 1;

export function samplingFields({ temperature, top_p }: ChatBody): JsonObject {
  return {
    ...(temperature !== undefined && temperature !== byDefault && { temperature }),
    ...(top_p !== undefined && top_p !== byDefault && { top_p }),
  };
}

/** How many tokens a provider counts for a chat. */
import type { Reservation } from "../../../src/gateway/credit/reservation.ts";
import type { Usage } from "../../../src/gateway/models/model.ts";
import type { ProviderCall } from "../../../src/gateway/providers/provider.ts";
import type { Chance } from "../chance.ts";

/** Counts within the reservation, except for a few calls that count more; null: it reports no count. */
export function countChat({ maxOutputTokens }: Reservation, { chat }: ProviderCall, chance: Chance): Usage | null {
  if (chance.happens(0.05)) return null;
  const bound = Number(chat["input_tokens_bound"]);
  const promptTokens = chance.happens(0.02)
    ? bound + 500
    : chance.happens(0.05)
      ? 0
      : chance.between(Math.floor(bound / 2), bound);
  const completionTokens = chance.happens(0.05) ? 0 : chance.happens(0.4) ? maxOutputTokens : chance.between(1, maxOutputTokens);
  // A count of zero tokens is not a count: no format accepts it.
  if (promptTokens + completionTokens === 0) return null;
  const cachedTokens = chance.happens(0.2) ? chance.between(0, promptTokens) : 0;
  const cacheWriteTokens = cachedTokens > 0 ? Math.floor((promptTokens - cachedTokens) / 2) : 0;
  return { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens: 0 };
}

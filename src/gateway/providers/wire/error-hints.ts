/** What is said of a provider's error without a word of its text. */
import { isErrorName } from "./error-names.ts";

/** SDKs and agents know a conversation that is too long by "maximum context length". */
export const contextHint = "The request is longer than the model's maximum context length; shorten it or lower max_tokens";
export const filterHint = "The provider's content filter refused the request";

/** Status and those of the provider's words that vendors document: enough for our log, and nobody's text. */
export function failureDetail(status: number, words: readonly string[]): string {
  const names = words.filter(isErrorName);
  return names.length === 0 ? `status ${status}` : `status ${status}: ${names.join(", ")}`;
}

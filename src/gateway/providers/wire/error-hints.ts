/** Describes a provider's error without using its text. */
import { isErrorName } from "./error-names.ts";

/** SDKs and agents recognize a too long conversation by "maximum context length". */
export const contextHint = "The request is longer than the model's maximum context length; shorten it, or set a lower max_tokens";
export const effortHint = "The model does not support this reasoning_effort, or max_tokens is too low for it";
export const filterHint = "The provider's content filter refused the request";

/** The status and the documented words of the provider's error: enough for our log, without anyone's text. */
export function failureDetail(status: number, words: readonly string[]): string {
  const names = words.filter(isErrorName);
  return names.length === 0 ? `status ${status}` : `status ${status}: ${names.join(", ")}`;
}

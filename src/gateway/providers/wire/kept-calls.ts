/**
 * What a decoder keeps of an answer's calls to the end of its stream, bounded. Each call needs its result in a message of the next request,
 * and its id and name come back in that request's body: an answer beyond the bounds of a request can never be answered, so it fails at
 * once.
 */
import { bodyBytesMax, messagesMax } from "../../limits.ts";
import { UpstreamFailure } from "../provider.ts";

export class KeptCalls {
  #calls = 0;
  #characters = 0;

  /**
   * Counts a call. @param texts its id and its name, or what of them is known so far
   * @throws UpstreamFailure when there are too many calls, or their texts are too long
   */
  begin(...texts: readonly string[]): void {
    this.#calls++;
    for (const text of texts) this.keep(text);
    if (this.#calls > messagesMax)
      throw new UpstreamFailure("upstream_error", `the answer has more than ${messagesMax} calls of tools`);
  }

  /** Counts an id that came later. @throws UpstreamFailure as above */
  keep(text: string): void {
    this.#characters += text.length;
    if (this.#characters > bodyBytesMax)
      throw new UpstreamFailure("upstream_error", "the ids and names of the answer's calls are too long");
  }
}

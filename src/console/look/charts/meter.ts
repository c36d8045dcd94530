/** How much of a limit is used: a bar beside the words that say it. */
import { markup, type Html } from "../../../http/html.ts";
import { content, type Content } from "../user-text.ts";

/** From these parts of the limit on, it needs attention. */
const warnPerMille = 800n;
const fullPerMille = 1_000n;

/** @param of the limit; null draws no bar. Zero counts as used up. */
export function meter({ used, of, words }: { used: bigint; of: bigint | null; words: Content }): Html {
  if (of === null) return markup`<div class="meter">${content(words)}</div>`;
  const perMille = of <= 0n ? fullPerMille : (used * 1_000n) / of;
  const shown = perMille > fullPerMille ? fullPerMille : perMille < 0n ? 0n : perMille;
  const tone = perMille >= fullPerMille ? "bad" : perMille >= warnPerMille ? "warn" : "good";
  // What is used at all is seen.
  const width = used > 0n && shown < 10n ? 10n : shown;
  return markup`<div class="meter ${tone}">${content(words)}<svg aria-hidden="true"><rect class="track" width="100%" height="6" rx="3" /><rect class="used" width="${Number(width) / 10}%" height="6" rx="3" /></svg></div>`;
}

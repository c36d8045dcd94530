/**
 * A spend limit at a glance: what is spent, what open requests reserve, and what is left for further ones, as a bar of two tones and the
 * same in words. Requests are refused by what is left, so a limit never shows what is spent alone.
 */
import { markup, type Html } from "../../http/html.ts";
import { parseUsd } from "../../kernel/money.ts";
import { content, money, type Content } from "./parts.ts";

/** Amounts in USD, as the control API has them. */
export interface SpendLimit {
  /** null: no limit. */
  limit: string | null;
  spent: string;
  /** null: not known at present. */
  reserved: string | null;
  left: string | null;
}

export function limitMeter({ limit, spent, reserved, left }: SpendLimit): Html {
  const amounts = { spent: parseUsd(spent), reserved: parseUsd(reserved ?? "0") };
  if (limit === null) {
    const further = amounts.reserved === 0n ? null : markup`<br /><small>${money(reserved)} reserved</small>`;
    return meter({ ...amounts, of: null, words: markup`${money(spent)}${further}` });
  }
  const words = markup`${money(spent)} of ${money(limit)}<br /><small>${leftWords({ reserved, left })}</small>`;
  return meter({ ...amounts, of: parseUsd(limit), words });
}

/** Only the bar; null: there is no limit. */
export function limitBar({ limit, spent, reserved }: Omit<SpendLimit, "left">): Html | null {
  if (limit === null) return null;
  return meter({ spent: parseUsd(spent), reserved: parseUsd(reserved ?? "0"), of: parseUsd(limit), words: "" });
}

/** Such as `$0.20 reserved, $4.30 left`. */
export function leftWords({ reserved, left }: Pick<SpendLimit, "reserved" | "left">): Content {
  if (reserved === null || left === null) return "what is reserved is not known at present";
  return markup`${money(reserved)} reserved, ${money(left)} left`;
}

interface Meter {
  spent: bigint;
  /** Counts like what is spent, and is drawn lighter. */
  reserved: bigint;
  /** null draws no bar. Zero counts as used up. */
  of: bigint | null;
  words: Content;
}

/** The fractions of a limit from which it needs attention. */
const warnPerMille = 800n;
const fullPerMille = 1_000n;

export function meter({ spent, reserved, of, words }: Meter): Html {
  if (of === null) return markup`<div class="meter">${content(words)}</div>`;
  const counted = perMilleOf(spent + reserved, of);
  const tone = counted >= fullPerMille ? "bad" : counted >= warnPerMille ? "warn" : "good";
  const behind = reserved <= 0n ? null : bar("reserved", spent + reserved, of);
  return markup`<div class="meter ${tone}">${content(words)}<svg aria-hidden="true"><rect class="track" width="100%" height="6" rx="3" />${behind}${bar("used", spent, of)}</svg></div>`;
}

function bar(name: string, amount: bigint, of: bigint): Html {
  const perMille = perMilleOf(amount, of);
  const shown = perMille > fullPerMille ? fullPerMille : perMille < 0n ? 0n : perMille;
  // Any use is visible.
  const width = amount > 0n && shown < 10n ? 10n : shown;
  return markup`<rect class="${name}" width="${Number(width) / 10}%" height="6" rx="3" />`;
}

function perMilleOf(amount: bigint, of: bigint): bigint {
  return of <= 0n ? fullPerMille : (amount * 1_000n) / of;
}

/**
 * A spend limit at a glance: what is spent, what open requests reserve, and what is left for further ones, as a bar of two tones and the
 * same in words. Requests are refused by what is left, so a limit never shows what is spent alone.
 */
import { markup, type Html } from "../../http/html.ts";
import { parseUsd } from "../../kernel/money.ts";
import { meter } from "./charts.ts";
import { money, type Content } from "./parts.ts";

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
  const amounts = { used: parseUsd(spent), reserved: parseUsd(reserved ?? "0") };
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
  return meter({ used: parseUsd(spent), reserved: parseUsd(reserved ?? "0"), of: parseUsd(limit), words: "" });
}

/** Such as `$0.20 reserved, $4.30 left`. Where no request is open, nothing is reserved, and that takes no words. */
export function leftWords({ reserved, left }: Pick<SpendLimit, "reserved" | "left">): Content {
  if (reserved === null || left === null) return "what is reserved is not known at present";
  const ofOpen = parseUsd(reserved) === 0n ? null : markup`${money(reserved)} reserved, `;
  return markup`${ofOpen}${money(left)} left`;
}

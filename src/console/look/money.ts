/** Amounts of USD: readable at a glance, exact in the title. */
import { formatUsd, parseUsd, type NanoUsd } from "../../kernel/money.ts";
import { markup, type Html } from "../../http/html.ts";

/**
 * @param amount nano-USD, or a decimal text of the control API; null gives `none`
 * @throws RangeError for a text that is no amount
 */
export function money(amount: NanoUsd | string | null, none = "no limit"): Html {
  if (amount === null) return markup`<span class="none">${none}</span>`;
  const nano = typeof amount === "string" ? parseUsd(amount) : amount;
  const exact = formatUsd(nano);
  return markup`<data class="money" value="${exact}" title="${exact} USD">${roundedUsd(nano)}</data>`;
}

/**
 * Two decimals from one dollar on, four from a hundredth of a cent on; less is shown whole, since it would round to nothing.
 * @returns such as `$1,234.50`, `$0.0123` or `$0.000000001`
 */
export function roundedUsd(nano: NanoUsd): string {
  const size = nano < 0n ? -nano : nano;
  const decimals = size === 0n || size >= 1_000_000_000n ? 2 : size >= 100_000n ? 4 : 9;
  const step = 10n ** BigInt(9 - decimals);
  // Half up, as charges are rounded.
  const [whole = "", part = ""] = formatUsd(((size + step / 2n) / step) * step).split(".");
  const digits = part.slice(0, decimals);
  const shown = decimals === 2 ? digits : digits.replace(/0{1,7}$/, "").padEnd(2, "0");
  return `${nano < 0n ? "−" : ""}$${BigInt(whole).toLocaleString("en-US")}.${shown}`;
}

/** All decimals that are not zero, two at least: for round amounts, such as those of a scale. @returns such as `$0.00016` */
export function exactUsd(nano: NanoUsd): string {
  const [whole = "", part = ""] = formatUsd(nano).split(".");
  return `$${BigInt(whole).toLocaleString("en-US")}.${part.replace(/0{1,7}$/, "")}`;
}

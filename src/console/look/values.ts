/**
 * Texts of people, money and times, each as it looks on every page. Text that somebody else wrote is isolated, so that a right-to-left
 * name does not turn the words around it. Money is readable at a glance and exact in its title; times are UTC in their title and in the
 * browser's zone where a script shows them.
 */
import { markup, type Html } from "../../http/html.ts";
import { formatUsd, parseUsd, type NanoUsd } from "../../kernel/money.ts";

/** What a component takes as contents: text is escaped and isolated, a number and a template are inserted as they are. */
export type Content = string | number | Html;

/** The longest word that stays whole, in characters: a narrow column is as wide. */
const wordMax = 20;

/**
 * Its direction is its own, so that a right-to-left name does not turn the words around it. Longer addresses and ids may break after
 * a mark such as @ or /, and longer pieces anywhere.
 */
export function userText(words: string): Html {
  if (!hasLonger(words)) return markup`<bdi>${words}</bdi>`;
  const [first = "", ...others] = words.split(/(?<=[@/_:-])/);
  const broken = markup`${first}${others.map((piece) => markup`<wbr />${piece}`)}`;
  return [first, ...others].some(hasLonger) ? markup`<bdi class="long">${broken}</bdi>` : markup`<bdi>${broken}</bdi>`;
}

function hasLonger(words: string): boolean {
  return words.split(" ").some(({ length }) => length > wordMax);
}

export function content(given: Content): Html {
  return typeof given === "string" ? userText(given) : markup`${given}`;
}

// Amounts of USD

/**
 * @param amount nano-USD, or a decimal text of the control API; null gives `none`
 * @throws RangeError for a text that is not an amount
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

/** An amount with all of its nine decimals, so that what is printed adds up. @param usd of the control API */
export function exactMoney(usd: string): Html {
  const [whole = "", decimals = ""] = usd.replace("-", "").split(".");
  const sign = usd.startsWith("-") ? "−" : "";
  return markup`<data class="money" value="${usd}">${sign}$${BigInt(whole).toLocaleString("en-US")}.${decimals}</data>`;
}

/** A limit as a person would type it, for the field of a form. @param usd of the control API; null: none */
export function typedUsd(usd: string | null): string {
  return usd === null ? "" : usd.replace(/0{1,7}$/, "");
}

// Times. The script leaves out the present year

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** @param at ISO 8601 with Z; null gives `never` */
export function time(at: string | null, { never = "never", seconds = false } = {}): Html {
  if (at === null) return markup`<span class="none">${never}</span>`;
  const clock = at.slice(11, seconds ? 19 : 16);
  return markup`<time datetime="${at}" title="${at.slice(0, 10)} ${at.slice(11, 19)} UTC" data-local="${seconds ? "seconds" : "minutes"}">${day(at)}, ${clock} UTC</time>`;
}

/** A day of the calendar, the same in every zone: `24 Nov 2026`. @param date begins with YYYY-MM-DD */
export function day(date: string): string {
  return `${shortDay(date)} ${date.slice(0, 4)}`;
}

/** `24 Nov` */
export function shortDay(date: string): string {
  return `${Number(date.slice(8, 10))} ${months[Number(date.slice(5, 7)) - 1] ?? ""}`;
}

/** A statement's times are those of UTC, and with the year, in every browser and on paper. @param at ISO 8601 with Z */
export function utcTime(at: string): string {
  return `${day(at)}, ${at.slice(11, 19)} UTC`;
}

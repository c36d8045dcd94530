/**
 * Parts of pages that people print and file: the parties of a document, texts of several lines, and amounts that are rounded to cents with
 * the exact one beneath. Rounded amounts are for reading; only the exact ones add up.
 */
import { markup, type Html } from "../../http/html.ts";
import { parseUsd } from "../../kernel/money.ts";
import { exactMoney, userText } from "./parts.ts";

export interface PrintedParty {
  /** Such as "Seller". */
  role: string;
  name: string;
  /** In lines. */
  address: string;
  taxNumber: string;
}

/** The parties of a document, side by side. */
export function parties(all: readonly PrintedParty[]): Html {
  const one = ({ role, name, address, taxNumber }: PrintedParty): Html =>
    markup`<div><dt>${role}</dt><dd><b>${userText(name)}</b>${address === "" ? null : markup`<br />${userLines(address)}`}${taxNumber === "" ? null : markup`<br />Tax number ${userText(taxNumber)}`}</dd></div>`;
  return markup`<dl class="parties">${all.map(one)}</dl>`;
}

/** A text with its line ends. */
export function userLines(text: string): Html {
  const lines = text.split("\n");
  return markup`${lines.map((line, index) => markup`${index === 0 ? null : markup`<br />`}${userText(line)}`)}`;
}

/** Rounded half up to whole cents, as money is paid. @param usd as in the control API @returns such as `$1,234.50` */
export function cents(usd: string): string {
  const nano = parseUsd(usd.replace("-", ""));
  const whole = (nano + 5_000_000n) / 10_000_000n;
  const part = String(whole % 100n).padStart(2, "0");
  const sign = usd.startsWith("-") && whole > 0n ? "−" : "";
  return `${sign}$${(whole / 100n).toLocaleString("en-US")}.${part}`;
}

/** @param usd as in the control API */
export function roundedMoney(usd: string): Html {
  return markup`${cents(usd)}<span class="under exact">${exactMoney(usd)}</span>`;
}

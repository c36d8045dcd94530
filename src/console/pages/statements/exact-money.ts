import type { Html } from "../../../http/html.ts";
import { markup } from "../../../http/html.ts";

/** An amount with all of its nine decimals, so that what is printed adds up. @param usd of the control API */
export function exactMoney(usd: string): Html {
  const [whole = "", decimals = ""] = usd.replace("-", "").split(".");
  const sign = usd.startsWith("-") ? "−" : "";
  return markup`<data class="money" value="${usd}">${sign}$${BigInt(whole).toLocaleString("en-US")}.${decimals}</data>`;
}

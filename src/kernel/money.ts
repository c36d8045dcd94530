/**
 * Money is an integer number of nano-USD (1e-9 USD) as bigint; prices are integer pico-USD (1e-12 USD) per token.
 * Nothing here is a float: token counts are integers, and one generation is rounded once.
 */

export type NanoUsd = bigint;
/** Price of one token in pico-USD. USD per 1M tokens × 1,000,000 gives it exactly for up to six decimals. */
export type PicoUsdPerToken = bigint;

const nanoPerUsd = 1_000_000_000n;
export const picoPerNano = 1_000n;

/**
 * Parses a decimal amount of USD such as `10`, `0.25` or `-3.000000001`.
 * @param decimalsMax how many decimals are accepted, at most nine
 * @throws RangeError when the text is not a plain decimal number or has more decimals
 */
export function parseUsd(text: string, decimalsMax = 9): NanoUsd {
  const match = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?$/.exec(text);
  const decimals = match?.[3] ?? "";
  if (!match || decimals.length > decimalsMax) {
    throw new RangeError(`Cannot read amount "${text}": a decimal number of USD with at most ${decimalsMax} decimals is needed`);
  }
  const nano = BigInt(match[2] ?? "0") * nanoPerUsd + BigInt(decimals.padEnd(9, "0"));
  return match[1] === "-" ? -nano : nano;
}

/** Formats as USD with nine decimals: the form of every amount in the control API. */
export function formatUsd(nano: NanoUsd): string {
  const size = nano < 0n ? -nano : nano;
  const sign = nano < 0n ? "-" : "";
  return `${sign}${size / nanoPerUsd}.${(size % nanoPerUsd).toString().padStart(9, "0")}`;
}

/** The amount as a JSON number where the specification says number: read from the decimal text, never computed with. */
export function usdAsJsonNumber(nano: NanoUsd): number {
  return Number(formatUsd(nano));
}

/**
 * Parses a list price in USD per 1M tokens with up to six decimals.
 * @throws RangeError when it is negative or finer than a pico-USD a token
 */
export function parsePricePerMillion(text: string): PicoUsdPerToken {
  const nano = parseUsd(text, 6);
  if (nano < 0n) throw new RangeError(`Cannot read price "${text}": a price is not negative`);
  return nano / picoPerNano;
}

/** Formats a price back to USD per 1M tokens, without trailing zeros beyond two decimals. */
export function formatPricePerMillion(price: PicoUsdPerToken): string {
  // Up to seven of the nine decimals are dropped.
  return formatUsd(price * picoPerNano).replace(/0{1,7}$/, "");
}

/** Formats pico-USD as USD with twelve decimals. */
export function formatPicoUsd(pico: bigint): string {
  return formatUsd(pico / picoPerNano) + (pico % picoPerNano).toString().padStart(3, "0");
}

/** Tokens × price, exact, in pico-USD. */
export function picoCost(tokens: number, price: PicoUsdPerToken): bigint {
  if (!Number.isSafeInteger(tokens) || tokens < 0)
    throw new RangeError(`Cannot price ${tokens} tokens: a count is a whole number from 0`);
  return BigInt(tokens) * price;
}

/** Pico-USD to nano-USD, rounded up: reservations. */
export function nanoRoundedUp(pico: bigint): NanoUsd {
  return (pico + picoPerNano - 1n) / picoPerNano;
}

/** Pico-USD to nano-USD, rounded half up: charges. The error is at most 0.5e-9 USD per generation. */
export function nanoRoundedHalfUp(pico: bigint): NanoUsd {
  return (pico + picoPerNano / 2n) / picoPerNano;
}

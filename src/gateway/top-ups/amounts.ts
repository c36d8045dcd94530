/** Amounts of top-ups: whole cents within bounds. */
import { DomainError } from "../../accounts/errors.ts";
import { parseAmount } from "../../accounts/workspaces/fields.ts";
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import { topUpCentsMax, topUpCentsMin } from "./limits.ts";

const nanoPerCent = 10_000_000n;

export function centsOf(amount: NanoUsd): number {
  return Number(amount / nanoPerCent);
}

export function ofCents(cents: number): NanoUsd {
  return BigInt(cents) * nanoPerCent;
}

/** The amount without what is less than a cent. */
export function wholeCents(amount: NanoUsd): NanoUsd {
  return amount - (amount % nanoPerCent);
}

/** @throws DomainError invalid_field */
export function parseBetween({ field, text, min, max }: { field: string; text: string; min: NanoUsd; max: NanoUsd }): NanoUsd {
  const amount = parseAmount({ field, text, decimalsMax: 2 });
  if (amount >= min && amount <= max) return amount;
  const [from, to] = [min, max].map((bound) => formatUsd(bound).replace(/\.?0{7,9}$/, ""));
  throw new DomainError("invalid_field", `Cannot take "${text}" as ${field}: an amount from ${from} to ${to} USD is needed`, {
    field,
  });
}

/** What one top-up charges. @throws DomainError invalid_field */
export function parseTopUpAmount(field: string, text: string): NanoUsd {
  return parseBetween({ field, text, min: ofCents(topUpCentsMin), max: ofCents(topUpCentsMax) });
}

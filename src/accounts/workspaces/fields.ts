/**
 * Kinds of fields for forms: one line of text, amounts, addresses. Descriptions complete the sentence "… is needed". Different
 * spellings of an e-mail address belong to one account; letters that only look like ASCII are not folded, since their address is
 * another person's.
 */
import { Type, type SchemaOptions, type TString } from "@sinclair/typebox";
import { formatUsd, parseUsd, type NanoUsd } from "../../kernel/money.ts";
import { balanceNanoMax, balanceUsdMax, emailCharactersMax, nameCharactersMax } from "../limits.ts";
import { DomainError } from "../errors.ts";

/** One line of text: control characters could forge lines in logs and tables, and PostgreSQL accepts no NUL. */
export function line(description: string, options: SchemaOptions & { minLength?: number } = {}): TString {
  return Type.String({ pattern: "^[^\\u0000-\\u001f\\u007f]*$", maxLength: nameCharactersMax, description, ...options });
}

export function usd(title?: string): TString {
  return Type.String({
    maxLength: 32,
    description: 'an amount of USD as a string, such as "12.50",',
    ...(title !== undefined && { title }),
  });
}

const Email = Type.String({
  pattern: "^[^\\s@\\u0000-\\u001f\\u007f]+@[^\\s@\\u0000-\\u001f\\u007f]+$",
  maxLength: emailCharactersMax,
  description: "an e-mail address",
});

/** An address, with what it is for. */
export function emailOf(title: string): TString {
  return Type.String({ ...Email, title });
}

/** The two non-ASCII letters whose lower case is ASCII: the Kelvin sign and the dotted I. */
const becomesAscii = /([\u212a\u0130])/u;

/** The one spelling of an address under which its account is found. */
export function canonicalEmail(email: string): string {
  const parts = email.split(becomesAscii);
  return parts.map((part) => (becomesAscii.test(part) ? part : part.toLowerCase())).join("");
}

/**
 * Parses an amount above zero and of at most 9,000,000 USD.
 * @throws DomainError invalid_field
 */
export function parseAmount({ field, text, decimalsMax }: { field: string; text: string; decimalsMax: number }): NanoUsd {
  const refuse = (cause: string) => new DomainError("invalid_field", `Cannot take "${text}" as ${field}: ${cause}`, { field });
  let amount: NanoUsd;
  try {
    amount = parseUsd(text, decimalsMax);
  } catch {
    throw refuse(`a decimal number of USD with at most ${decimalsMax} decimals is needed`);
  }
  if (amount <= 0n) throw refuse("an amount above zero is needed");
  if (amount > balanceNanoMax) throw refuse(`at most ${balanceUsdMax} USD are allowed`);
  return amount;
}

/** A limit and what counts against it. */
interface LimitUse {
  limit: NanoUsd | null;
  /** null: not known, or not counted. */
  spent: NanoUsd | null;
  reserved: NanoUsd | null;
}

/** What a limit leaves for further requests, never below zero. null: there is no limit, or what counts against it is not known. */
export function leftOf({ limit, spent, reserved }: LimitUse): string | null {
  if (limit === null || spent === null || reserved === null) return null;
  const left = limit - spent - reserved;
  return formatUsd(left > 0n ? left : 0n);
}

/** The description of what a limit leaves. @param limit such as "the monthly limit" */
export function leftWords(limit: string): string {
  return `What ${limit} leaves for further requests: the limit minus what is spent and reserved, in USD with nine decimals; null: no limit, or it is not known what is reserved`;
}

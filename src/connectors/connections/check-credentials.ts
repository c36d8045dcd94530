/** Checks the values of a connector's form against its fields; the error names the field of the first problem. */
import type { ConnectorRow } from "../catalog/row.ts";
import type { Field } from "../catalog/files/schema.ts";
import { nearest } from "../../kernel/nearest.ts";
import { credentialCharactersMax, credentialTextCharactersMax } from "../limits.ts";
import { DomainError } from "../../accounts/errors.ts";
import { BaseUrlError, parseBaseUrl } from "../../http/outbound/base-url.ts";
import { isJsonObject } from "../../http/json-object.ts";

/** Values by field keys. */
export type Credentials = ReadonlyMap<string, string>;

export interface Filled {
  set: number;
  credentials: Record<string, unknown>;
}

/**
 * @returns the fields with a value, in the form's order
 * @throws DomainError invalid_field for a field that is unknown, missing or of the wrong kind, without its value
 */
export function checkCredentials({ set, credentials }: Filled, { credential_sets }: ConnectorRow): Credentials {
  const fields = credential_sets[set]?.fields ?? [];
  if (set > 0 && set >= credential_sets.length) {
    throw invalid("credential_set", `Cannot take ${set} as credential_set: the form has ${credential_sets.length}, from 0`);
  }
  for (const key of Object.keys(credentials)) {
    if (!fields.some((field) => field.key === key)) throw unknownField(key, fields);
  }
  const filled = fields.flatMap((field): [string, string][] => {
    const value = Object.hasOwn(credentials, field.key) ? credentials[field.key] : undefined;
    if (value === undefined || value === null || (typeof value === "string" && value.trim() === "")) {
      if (field.optional) return [];
      throw invalid(field.key, `The field "${field.key}" is missing: ${field.label} is needed`);
    }
    return [[field.key, checkValue(field, value)]];
  });
  return new Map(filled);
}

function checkValue({ key, kind }: Field, value: unknown): string {
  const refuse = (needed: string) => invalid(key, `Cannot take the value of "${key}": ${needed}`);
  if (typeof value !== "string") throw refuse("a text is needed");
  const longest = kind === "multiline" || kind === "json" ? credentialTextCharactersMax : credentialCharactersMax;
  if (value.length > longest) throw refuse(`at most ${longest} characters are possible`);
  const text = value.trim();
  const problem = problemOf(kind, text);
  if (problem !== null) throw refuse(problem);
  return text;
}

function problemOf(kind: Field["kind"], text: string): string | null {
  switch (kind) {
    case "multiline":
      return /\p{Cc}/u.test(text.replaceAll(/[\r\n\t]/g, "")) ? "a text without control characters is needed" : null;
    case "json":
      return holdsJsonObject(text) ? null : "a JSON object is needed";
    case "url":
      return urlProblem(text);
    case "email":
      return /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(text) ? null : "an e-mail address is needed";
    case "text":
    case "region":
      return /\p{Cc}/u.test(text) ? "one line of text is needed" : null;
  }
}

function urlProblem(text: string): string | null {
  try {
    parseBaseUrl(text);
    return null;
  } catch (error) {
    if (error instanceof BaseUrlError) return error.message;
    throw error;
  }
}

function holdsJsonObject(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}

function unknownField(key: string, fields: Field[]): DomainError {
  const near = nearest(
    key,
    fields.map((field) => field.key),
  );
  const hint = near === undefined ? "this form has no fields" : `the nearest known field is "${near}"`;
  return invalid(key, `There is no field "${key}" in the form: ${hint}`);
}

function invalid(field: string, message: string): DomainError {
  return new DomainError("invalid_field", message, { field });
}

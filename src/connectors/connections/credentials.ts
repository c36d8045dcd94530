/**
 * Checks the values of a connector's form, and seals them. An error names the field of the first problem and never its value. Each field is
 * sealed separately and bound to its workspace, connection, connector and key, so that a value copied elsewhere in the database cannot be
 * opened.
 */
import { DomainError } from "../../accounts/errors.ts";
import { isJsonObject } from "../../http/json.ts";
import { BaseUrlError, parseBaseUrl } from "../../http/public-address.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { nearest } from "../../kernel/text.ts";
import type { SealKey } from "../../kernel/seal-key.ts";
import { askedFields } from "../catalog/files/columns.ts";
import type { Field } from "../catalog/files/schema.ts";
import type { ConnectorRow } from "../catalog/row.ts";
import { credentialCharactersMax, credentialTextCharactersMax } from "../limits.ts";

/** Values by field key. */
export type Credentials = ReadonlyMap<string, string>;

interface Filled {
  set: number;
  credentials: Record<string, unknown>;
}

/**
 * @returns the fields with a value, in the form's order
 * @throws DomainError invalid_field for a field that is unknown, missing or of the wrong kind, without its value
 */
export function checkCredentials({ set, credentials }: Filled, { credential_sets }: ConnectorRow): Credentials {
  const all = credential_sets[set]?.fields ?? [];
  const fields = askedFields({ fields: all });
  if (set > 0 && set >= credential_sets.length) {
    throw invalid("credential_set", `Cannot take ${set} as credential_set: the form has ${credential_sets.length}, from 0`);
  }
  for (const key of Object.keys(credentials)) {
    const made = all.find((field) => field.key === key && field.generated);
    if (made) throw invalid(key, `Cannot take a value of "${key}": Weir makes it, and the connection shows it`);
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

/** What a stored field is bound to, besides its key. */
interface Owner {
  workspace: WorkspaceId;
  /** The connection's id. */
  id: string;
  connector: string;
}

export interface SealedField {
  field: string;
  sealed: Uint8Array;
}

export function sealCredentials(credentials: Credentials, owner: Owner, key: SealKey): SealedField[] {
  return [...credentials].map(([field, value]) => ({ field, sealed: sealField(value, { owner, field, key }) }));
}

function sealField(value: string, { owner, field, key }: { owner: Owner; field: string; key: SealKey }): Uint8Array {
  return key.seal(Buffer.from(value), about(owner, field));
}

/** @throws SealError for a field that was sealed with another key, changed, or copied from elsewhere */
export function openCredentials(fields: SealedField[], owner: Owner, key: SealKey): Credentials {
  return new Map(fields.map((sealed) => [sealed.field, openField(sealed, owner, key)]));
}

/** @throws SealError */
function openField({ field, sealed }: SealedField, owner: Owner, key: SealKey): string {
  return Buffer.from(key.open(sealed, about(owner, field))).toString();
}

function invalid(field: string, message: string): DomainError {
  return new DomainError("invalid_field", message, { field });
}

function unknownField(key: string, fields: Field[]): DomainError {
  const near = nearest(
    key,
    fields.map((field) => field.key),
  );
  const hint = near === undefined ? "this form has no fields" : `the nearest known field is "${near}"`;
  return invalid(key, `There is no field "${key}" in the form: ${hint}`);
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

function holdsJsonObject(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
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

function about({ workspace, id, connector }: Owner, field: string): string {
  return JSON.stringify([workspace, connector, field, id]);
}

/** A connector's form in the Console: the same fields, hints and rules as on its public page, and it is sent. */
import type { CredentialSet } from "../../../connectors/catalog/files/schema.ts";
import { credentialCharactersMax, credentialTextCharactersMax } from "../../../connectors/limits.ts";
import { hintsOf, isLong } from "../../../connectors/pages/credential-form.ts";
import type { FormFields } from "../../form.ts";
import type { Field } from "../../look/forms/field.ts";
import type { FormState } from "../../look/forms/form.ts";

export function credentialFields({ fields }: CredentialSet): Field[] {
  return fields.map((field) => {
    const { key: name, label, optional, secret, kind } = field;
    const hint = hintsOf(field, "service").join(" ");
    const shared = { name, label, required: !optional, ...(hint !== "" && { hint }) };
    if (isLong(field)) return { ...shared, kind: "lines", rows: 6, code: true, charactersMax: credentialTextCharactersMax };
    const typed = secret ? "password" : kind === "url" || kind === "email" ? kind : "text";
    return { ...shared, kind: typed, charactersMax: credentialCharactersMax, ...(secret && { autocomplete: "off" }) };
  });
}

/** What was typed, without its secrets: no page holds one. */
export function withoutSecrets(state: FormState, { fields }: CredentialSet): FormState {
  const secret = new Set(fields.filter((field) => field.secret).map(({ key }) => key));
  return { ...state, values: Object.fromEntries(Object.entries(state.values).filter(([name]) => !secret.has(name))) };
}

export function credentialsIn(typed: FormFields, { fields }: CredentialSet): Record<string, string> {
  // Hidden fields of the form come first, so a credential that is called like one of them is the last.
  return Object.fromEntries(fields.map(({ key }) => [key, (typed.all(key).at(-1) ?? "").replaceAll("\r\n", "\n")]));
}

/** The connector's form. It is never submitted: the typed text becomes a file on the reader's machine. */
import type { ConnectorRow } from "../catalog/row.ts";
import type { CredentialSet } from "../catalog/files/schema.ts";
import { fieldElements } from "./field.ts";
import { markup, type Html } from "../../http/html.ts";

/** By the standard, the method "dialog" sends nothing outside of a dialog, and the page's policy forbids every other one. */
export function credentialForm({ slug, name, credential_sets }: ConnectorRow): Html {
  const several = credential_sets.length > 1;
  return markup`<form method="dialog" data-file="${credentialsFile(slug)}" autocomplete="off" aria-labelledby="form">
    ${credential_sets.map((set, number) => fieldset(set, { number, legend: legendOf(set, { number, several, name }) }))}
    <p class="actions" data-scripted hidden><button type="submit">Save ${credentialsFile(slug)}</button></p>
    <p class="hint" data-scripted hidden>
      The file is made here, in your browser, and kept on your machine. Nothing that you type is sent anywhere.
    </p>
    <p class="saved" role="status"></p>
  </form>`;
}

/** The file name that the page offers and that the command takes. */
export function credentialsFile(slug: string): string {
  return `${slug}-credentials.json`;
}

/** Stands above all steps, for each of them depends on it; null without a choice. */
export function credentialChooser({ credential_sets }: ConnectorRow): Html | null {
  if (credential_sets.length < 2) return null;
  return markup`<fieldset class="chooser" data-scripted hidden>
    <legend>What do you connect with?</legend>
    ${credential_sets.map(choice)}
  </fieldset>`;
}

function choice(set: CredentialSet, number: number): Html {
  const checked = number === 0 ? markup` checked` : null;
  return markup`<label class="choice">
    <input type="radio" name="credential_set" value="${number}" autocomplete="off"${checked} />
    <span>${labelsOf(set)}</span>
  </label>`;
}

function fieldset({ fields }: CredentialSet, { number, legend }: { number: number; legend: string }): Html {
  return markup`<fieldset class="set" data-set="${number}">
    <legend>${legend}</legend>
    ${fields.map((field) => fieldElements(field, number))}
  </fieldset> `;
}

function legendOf(set: CredentialSet, { number, several, name }: { number: number; several: boolean; name: string }): string {
  if (!several) return `Credentials for ${name}`;
  return `${number === 0 ? "Either" : "Or, instead"}: ${labelsOf(set)}`;
}

export function labelsOf({ fields }: CredentialSet): string {
  return fields.map(({ label, optional }) => (optional ? `${label} (optional)` : label)).join(", ");
}

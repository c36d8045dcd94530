/**
 * The connector's form. It is never submitted: the typed text becomes a file on the reader's machine, and the page shows the command that
 * reads it.
 *
 * Fields follow the rules of src/connectors/connections/credentials.ts; `data-kind` selects them for the script. Some browsers check
 * spelling on a server, so spell checking is off. Without a script, the page shows the file's format.
 */
import { markup, type Html } from "../../http/html.ts";
import { askedFields, labelsOf } from "../catalog/files/columns.ts";
import type { CredentialSet, Field } from "../catalog/files/schema.ts";
import type { ConnectorRow } from "../catalog/row.ts";
import { credentialCharactersMax, credentialTextCharactersMax } from "../limits.ts";

/** By the standard, the method "dialog" sends nothing outside a dialog, and the page's policy forbids all other methods. */
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

/** A set is chosen before all steps, because each of them depends on it; null if there is no choice. */
export function credentialChooser({ credential_sets }: ConnectorRow): Html | null {
  if (credential_sets.length < 2) return null;
  return markup`<fieldset class="chooser" data-scripted hidden>
    <legend>What do you connect with?</legend>
    ${credential_sets.map(choice)}
  </fieldset>`;
}

export function isLong({ kind }: Field): boolean {
  return kind === "multiline" || kind === "json";
}

/**
 * What to know before filling in a field, as sentences.
 * @param goesTo where the text goes: into a file on the reader's machine, or to the service
 */
export function hintsOf({ kind, secret, example }: Field, goesTo: keyof typeof secretHints): string[] {
  const hint = kindHints[kind];
  return [
    ...(hint === null ? [] : [hint]),
    ...(secret ? [secretHints[goesTo]] : []),
    ...(example === undefined ? [] : [`Such as ${example}`]),
  ];
}

const secretHints = {
  file: "A secret: your file holds it as plain text until you connect; from then on the service keeps it, encrypted.",
  service: "A secret: it is stored encrypted and never shown again.",
};

const kindHints: Record<Field["kind"], string | null> = {
  text: null,
  url: "An address that begins with https:// and is publicly reachable.",
  email: null,
  multiline: "All lines of it, such as those of a key file with its first and last line.",
  json: "A JSON object, such as the whole key file that the vendor gave you.",
  region: "The region's name as the vendor writes it.",
};

/**
 * The command that creates a connection, and the format of the file that it reads, for each set of credentials. The script shows the chosen
 * set's.
 */
export function connectCommands({ slug, credential_sets }: ConnectorRow): Html {
  if (credential_sets.length === 0) return command({ id: "command", words: createWords(slug) });
  return markup`${credential_sets.map((set, number) => forSet(set, { slug, number, several: credential_sets.length > 1 }))}`;
}

/** The file name that the page offers and the command reads. */
function credentialsFile(slug: string): string {
  return `${slug}-credentials.json`;
}

function fieldset({ fields }: CredentialSet, { number, legend }: { number: number; legend: string }): Html {
  return markup`<fieldset class="set" data-set="${number}">
    <legend>${legend}</legend>
    ${askedFields({ fields }).map((field) => fieldElements(field, number))} ${generatedHint({ fields })}
  </fieldset> `;
}

/** What the form does not ask for; null: nothing. */
export function generatedHint({ fields }: Pick<CredentialSet, "fields">): Html | null {
  const made = fields.filter(({ generated }) => generated).map(({ label }) => label);
  if (made.length === 0) return null;
  return markup`<p class="hint">The form does not ask for ${made.join(", ")}: Weir makes it for each connection. The saved connection shows it, with what to enter at the vendor.</p>`;
}

/** One field of the form: label, hint and input element. */
function fieldElements(field: Field, set: number): Html {
  const { key, label, optional, secret } = field;
  const id = `set-${set}-${key}`;
  const hints = hintsOf(field, "file");
  const describedBy = hints.length === 0 ? `${id}-problem` : `${id}-hint ${id}-problem`;
  const element = isLong(field) ? longElement : lineElement;
  return markup`<div class="field">
    <label for="${id}">${label}${optional ? markup` <span class="optional">(optional)</span>` : null}</label>
    ${hints.length === 0 ? null : markup`<p class="hint" id="${id}-hint">${hints.join(" ")}</p>`}
    <div class="entry">${element(field, { id, describedBy })}${secret ? reveal({ id, label }) : null}</div>
    ${isLong(field) ? fromFile({ id, label }) : null}
    <p class="problem" id="${id}-problem" hidden></p>
  </div> `;
}

interface Place {
  id: string;
  describedBy: string;
}

function longElement({ key, label, kind, secret, optional }: Field, { id, describedBy }: Place): Html {
  return markup`<textarea
    id="${id}"
    name="${key}"
    rows="6"
    data-kind="${kind}"
    data-label="${label}"
    maxlength="${credentialTextCharactersMax}"
    aria-describedby="${describedBy}"
    ${secret ? markup` class="secret"` : null}${required(optional)}
    autocomplete="off"
    autocapitalize="off"
    spellcheck="false"
  ></textarea>`;
}

function required(optional: boolean): Html | null {
  return optional ? null : markup` required`;
}

const inputModes: Partial<Record<Field["kind"], string>> = { url: "url", email: "email" };

/** Nothing typed here may leave the machine, so spell checking is off. */
function lineElement({ key, label, kind, secret, optional }: Field, { id, describedBy }: Place): Html {
  const mode = inputModes[kind];
  return markup`<input
    id="${id}"
    name="${key}"
    type="${secret ? "password" : "text"}"
    data-kind="${kind}"
    data-label="${label}"
    maxlength="${credentialCharactersMax}"
    aria-describedby="${describedBy}"
    ${mode === undefined ? null : markup` inputmode="${mode}"`}${required(optional)}
    autocomplete="off"
    autocapitalize="off"
    spellcheck="false"
  />`;
}

function reveal({ id, label }: { id: string; label: string }): Html {
  return markup`<button type="button" class="quiet" data-reveals="${id}" aria-pressed="false" data-scripted hidden>
    Show<span class="unseen"> ${label}</span>
  </button>`;
}

/** The browser reads the file but sends it nowhere. */
function fromFile({ id, label }: { id: string; label: string }): Html {
  return markup`<p class="from-file" data-scripted hidden>
    <label for="${id}-file">Or read it from a file<span class="unseen">: ${label}</span></label>
    <input id="${id}-file" type="file" data-fills="${id}" />
  </p>`;
}

function legendOf(set: CredentialSet, { number, several, name }: { number: number; several: boolean; name: string }): string {
  if (!several) return `Credentials for ${name}`;
  return `${number === 0 ? "Either" : "Or, instead"}: ${labelsOf(set)}`;
}

function choice(set: CredentialSet, number: number): Html {
  const checked = number === 0 ? markup` checked` : null;
  return markup`<label class="choice">
    <input type="radio" name="credential_set" value="${number}" autocomplete="off"${checked} />
    <span>${labelsOf(set)}</span>
  </label>`;
}

/** Broken between flags, so that it is readable on a phone and still works when pasted. */
function command({ id, words }: { id: string; words: string[] }): Html {
  return markup`<div class="command">
    <pre><code id="${id}">${words.join(" \\\n  ")}</code></pre>
    <button type="button" class="quiet" data-copies="${id}" data-scripted hidden>Copy the command</button>
  </div>`;
}

function createWords(slug: string): string[] {
  return ["npm run -s weir -- connection create", "--workspace WORKSPACE", `--connector ${slug}`];
}

function forSet(set: CredentialSet, { slug, number, several }: { slug: string; number: number; several: boolean }): Html {
  const words = [
    ...createWords(slug),
    ...(number > 0 ? [`--credential-set ${number}`] : []),
    `--credentials ${credentialsFile(slug)}`,
  ];
  const optional = set.fields.some((field) => field.optional);
  const long = set.fields.some(({ kind }) => kind === "multiline" || kind === "json");
  return markup`<div data-set="${number}">
    ${several ? markup`<h3>With ${labelsOf(set)}</h3>` : null}
    <p>The file <code>${credentialsFile(slug)}</code> holds each credential under its key:</p>
    <pre><code>${shapeOf(set)}</code></pre>
    ${optional ? markup`<p class="hint">Optional values may be empty or left out.</p>` : null}
    ${long ? markup`<p class="hint">Within the quotes, a line break is written as <code>\\n</code> and a quote as <code>\\"</code>.</p>` : null}
    <p>The command takes it:</p>
    ${command({ id: `command-${number}`, words })}
  </div> `;
}

function shapeOf({ fields }: CredentialSet): string {
  return JSON.stringify(Object.fromEntries(askedFields({ fields }).map(({ key }) => [key, ""])), null, 2);
}

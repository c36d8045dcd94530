/** One field of a connector's form: its label, its hint and its input element. */
import { credentialCharactersMax, credentialTextCharactersMax } from "../limits.ts";
import type { Field } from "../catalog/files/schema.ts";
import { markup, type Html } from "../../http/html.ts";

/** `data-kind` selects the rule for the script; the rules are those of src/connectors/connections/check-credentials.ts. */
export function fieldElements(field: Field, set: number): Html {
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

export function isLong({ kind }: Field): boolean {
  return kind === "multiline" || kind === "json";
}

/**
 * What to know before filling it in, as sentences.
 * @param goesTo where the typed text goes: into a file on the reader's machine, or to the service
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
  url: "An address that begins with https:// and can be reached from everywhere.",
  email: null,
  multiline: "All lines of it, such as those of a key file with its first and last line.",
  json: "A JSON object, such as the whole key file that the vendor gave you.",
  region: "The region's name as the vendor writes it.",
};

interface Place {
  id: string;
  describedBy: string;
}

/** Some browsers check spelling on a server, and nothing typed here may leave the machine. */
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

const inputModes: Partial<Record<Field["kind"], string>> = { url: "url", email: "email" };

function required(optional: boolean): Html | null {
  return optional ? null : markup` required`;
}

function reveal({ id, label }: { id: string; label: string }): Html {
  return markup`<button type="button" class="quiet" data-reveals="${id}" aria-pressed="false" data-scripted hidden>
    Show<span class="unseen"> ${label}</span>
  </button>`;
}

/** The browser reads the file and sends it nowhere. */
function fromFile({ id, label }: { id: string; label: string }): Html {
  return markup`<p class="from-file" data-scripted hidden>
    <label for="${id}-file">Or read it from a file<span class="unseen">: ${label}</span></label>
    <input id="${id}-file" type="file" data-fills="${id}" />
  </p>`;
}

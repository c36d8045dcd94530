/** What to create at the vendor before filling in the form. */
import { noteTexts } from "../catalog/files/columns.ts";
import type { ConnectorRow } from "../catalog/row.ts";
import type { Grant, GrantNotes } from "../catalog/files/schema.ts";
import { grantsOf, type SetGrants } from "../catalog/set-grants.ts";
import { markup, type Html } from "../../http/html.ts";
import { labelsOf } from "./credential-form.ts";

interface Known {
  grantNotes: GrantNotes;
  setGrants: SetGrants;
}

/** One for each set of credentials if they need different grants; the script shows the one of the chosen set. */
export function grantElements(row: ConnectorRow, known: Known): Html {
  const grants = grantsOf(row, known.setGrants);
  const [first = null] = grants;
  if (grants.length < 2) return oneGrant(first, row, known);
  return markup`${row.credential_sets.map(
    (set, number) =>
      markup`<div data-set="${number}">
        <h3>For ${labelsOf(set)}</h3>
        ${oneGrant(grants[number] ?? null, row, known)}
      </div> `,
  )}`;
}

/** @param number of the set of credentials, from 0 */
export function grantOfSet(row: ConnectorRow, number: number, known: Known): Html {
  const grants = grantsOf(row, known.setGrants);
  return oneGrant((grants.length < 2 ? grants[0] : grants[number]) ?? null, row, known);
}

function oneGrant(grant: Grant | null, row: ConnectorRow, { grantNotes }: Known): Html {
  if (grant === null) {
    return markup`<p>
      No source names what to grant at ${row.name}${row.grant === null ? "" : " for these credentials"}. Create a credential that only
      reads, as the vendor's documentation says.
    </p>`;
  }
  const { text, scopes } = grant;
  const notes = notesOf(grant, row, grantNotes);
  // If the scopes are sufficient, the text only repeats them.
  const own =
    text !== null && text !== scopes.join(", ")
      ? markup`<p>Grant, in the vendor's own words: <strong>${text}</strong></p>`
      : null;
  return markup`${own}
  ${
    scopes.length === 0
      ? null
      : markup`<p>Scopes, which only read:</p>
          <ul class="scopes" aria-label="Scopes">
            ${scopes.map((scope) => markup`<li><code>${scope}</code></li>`)}
          </ul>`
  }
  ${
    notes.length === 0
      ? null
      : markup`<ul class="notes">
          ${notes.map((note) => markup`<li>${note}</li>`)}
        </ul>`
  }`;
}

/** A gateway that serves a recorded catalog only has the notes' texts in the row's column. */
function notesOf(grant: Grant, { columns }: ConnectorRow, grantNotes: GrantNotes): string[] {
  if (grant.notes.length === 0) return [];
  const known = grant.notes.every((code) => grantNotes.some((note) => note.code === code));
  return known ? noteTexts(grant, grantNotes).map(sentence) : [columns.grant_at_the_vendor];
}

function sentence(note: string): string {
  return `${note.charAt(0).toUpperCase()}${note.slice(1)}.`;
}

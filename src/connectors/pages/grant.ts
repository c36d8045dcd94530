/** What to create at the vendor before filling in the form. */
import { noteTexts } from "../catalog/files/columns.ts";
import type { ConnectorRow } from "../catalog/row.ts";
import type { GrantNotes } from "../catalog/files/schema.ts";
import { markup, type Html } from "../../http/html.ts";

export function grantElements(row: ConnectorRow, grantNotes: GrantNotes): Html {
  const { grant, name } = row;
  if (grant === null) {
    return markup`<p>
      No source names what to grant at ${name}. Create a credential that only reads, as the vendor's documentation says.
    </p>`;
  }
  const { text, scopes } = grant;
  const notes = notesOf(row, grantNotes);
  // If the scopes are sufficient, the text only repeats them.
  const own =
    text !== null && text !== scopes.join(", ")
      ? markup`<p>Grant, in the vendor's own words: <strong>${text}</strong></p>`
      : null;
  return markup`${own}
  ${
    scopes.length === 0
      ? null
      : markup`<p id="scopes">Scopes, which only read:</p>
          <ul class="scopes" aria-labelledby="scopes">
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
function notesOf({ grant, columns }: ConnectorRow, grantNotes: GrantNotes): string[] {
  if (grant === null || grant.notes.length === 0) return [];
  const known = grant.notes.every((code) => grantNotes.some((note) => note.code === code));
  return known ? noteTexts(grant, grantNotes).map(sentence) : [columns.grant_at_the_vendor];
}

function sentence(note: string): string {
  return `${note.charAt(0).toUpperCase()}${note.slice(1)}.`;
}

/**
 * How to set up one connector: what to grant at the vendor, the form, the command that creates the connection, and the sources of the
 * claims. If sets of credentials need different grants, the page shows the chosen set's. There is no sign-in here; if the Console is
 * enabled, the page links to it.
 */
import { markup, type Html } from "../../http/html.ts";
import { monogram } from "../../http/monogram.ts";
import { outward } from "../../http/page.ts";
import { labelsOf, methodNames, noteTexts } from "../catalog/files/columns.ts";
import type { Claim, Evidence, GrantNotes, Method, Grant } from "../catalog/files/schema.ts";
import { type ConnectorRow, type SetGrants, grantsOf } from "../catalog/row.ts";
import { connectCommands, credentialChooser, credentialForm } from "./credential-form.ts";
import { catalogAddress } from "./filters.ts";
import { pageText } from "./page.ts";

interface Surroundings {
  version: string;
  grantNotes: GrantNotes;
  setGrants: SetGrants;
  /** Whether the service has the Console, where the connection can be made. */
  consoleOn?: boolean;
}

export function setUpPage(row: ConnectorRow, { version, grantNotes, setGrants, consoleOn = false }: Surroundings): string {
  const { slug, name, category, form } = row;
  const main = markup`<nav class="trail" aria-label="Where this page is">
      <ol>
        <li><a href="/connectors">Connectors</a></li>
        <li><a href="${catalogAddress({ category })}">${category}</a></li>
      </ol>
    </nav>
    <div class="vendor">${monogram(name)}<h1>${name}</h1></div>
    <div class="columns">
      <div>${form === "none" ? recordSteps(row, consoleOn) : connectSteps(row, { grantNotes, setGrants, consoleOn })}</div>
      <aside aria-label="Facts">${facts(row)}${sources(row.evidence)}</aside>
    </div>`;
  return pageText({
    kind: "set-up",
    title: `${name} · Connectors · Weir`,
    main,
    data: [
      { path: `/api/connectors/${encodeURIComponent(slug)}`, label: "this connector" },
      { path: "/api/connector-schema.json", label: "its schema" },
    ],
    version,
  });
}

/** What the catalog says about grants. */
interface Known {
  grantNotes: GrantNotes;
  setGrants: SetGrants;
}

/** @param number the index of the set of credentials, from 0 */
export function grantOfSet(row: ConnectorRow, number: number, known: Known): Html {
  const grants = grantsOf(row, known.setGrants);
  return oneGrant((grants.length < 2 ? grants[0] : grants[number]) ?? null, row, known);
}

function recordSteps(row: ConnectorRow, consoleOn: boolean): Html {
  return markup`<section aria-labelledby="connect">
    <h2 id="connect">Keep it on record</h2>
    <p>Nothing is read from ${row.name}: a connection records that you use it, and asks for no credentials.</p>
    ${consoleOn ? inConsole(row) : null}
    <p>Whoever runs this service makes it, in its folder; WORKSPACE is the id or the name of your workspace.</p>
    ${connectCommands(row)}
  </section>`;
}

/** The page is the same for everyone. Visitors who follow the link sign in at the Console. */
function inConsole({ slug, name, form }: ConnectorRow): Html {
  const does =
    form === "none"
      ? "An admin of your workspace can keep it on record there."
      : "It has the same form, and stores what you fill in, encrypted.";
  return markup`<p class="in-console">
    <a class="button" href="/console/connect/${encodeURIComponent(slug)}">Connect ${name} in the Console</a>
    <span class="hint">${does} The steps below do the same by a command.</span>
  </p>`;
}

function connectSteps(row: ConnectorRow, { consoleOn, ...known }: Omit<Required<Surroundings>, "version">): Html {
  const { name, docs, form } = row;
  return markup`${consoleOn ? inConsole(row) : null} ${credentialChooser(row)}
    <section aria-labelledby="grant">
      <h2 id="grant">1. Prepare it at the vendor</h2>
      ${grantElements(row, known)} ${docs === null ? null : markup`<p>${outward(docs, markup`Documentation of ${name}`)}</p>`}
    </section>
    <section aria-labelledby="form">
      <h2 id="form">2. Fill in the form</h2>
      ${form === "generic" ? markup`<p>No source names what ${name} asks for, so this is the form for any vendor.</p>` : null}
      <p class="hint">All fields are needed but those that are marked as optional.</p>
      ${credentialForm(row)}
    </section>
    <section aria-labelledby="connect">
      <h2 id="connect">3. Connect</h2>
      <p>Whoever runs this service makes the connection, in its folder; WORKSPACE is the id or the name of your workspace.</p>
      ${connectCommands(row)}
      <p>
        From then on the service keeps the credentials encrypted, each by itself, and no answer ever shows them. Delete the file: it
        holds them as plain text.
      </p>
    </section>`;
}

/** One per set of credentials if they need different grants; the script shows the chosen set's. */
function grantElements(row: ConnectorRow, known: Known): Html {
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

function oneGrant(grant: Grant | null, row: ConnectorRow, { grantNotes }: Known): Html {
  if (grant === null) {
    return markup`<p>
      No source names what to grant at ${row.name}${row.grant === null ? "" : " for these credentials"}. Create a credential that only
      reads, as the vendor's documentation says.
    </p>`;
  }
  const { text, scopes } = grant;
  const notes = notesOf(grant, row, grantNotes);
  // If the scopes are sufficient, the text merely repeats them.
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

/** A gateway that serves a recorded catalog has the notes' texts only in the row's column. */
function notesOf(grant: Grant, { columns }: ConnectorRow, grantNotes: GrantNotes): string[] {
  if (grant.notes.length === 0) return [];
  const known = grant.notes.every((code) => grantNotes.some((note) => note.code === code));
  return known ? noteTexts(grant, grantNotes).map(sentence) : [columns.grant_at_the_vendor];
}

function sentence(note: string): string {
  return `${note.charAt(0).toUpperCase()}${note.slice(1)}.`;
}

const methodWords: Record<Method, string> = {
  oauth: "You agree at the vendor, and no credential is typed in.",
  api_token: "The credentials of the form.",
  mcp: "The vendor's own server; only its tools that read are used.",
  record_only: "Nothing is asked for, and nothing is read.",
};

function facts({ vendor, category, methods, mcp, docs, columns }: ConnectorRow): Html {
  return markup`<dl class="facts">
    <div>
      <dt>Vendor</dt>
      <dd>${vendor}</dd>
    </div>
    <div>
      <dt>Category</dt>
      <dd><a href="${catalogAddress({ category })}">${category}</a></dd>
    </div>
    <div>
      <dt>Connect with</dt>
      <dd>
        <ul>
          ${methods.map((method) => markup`<li><strong>${methodNames[method]}</strong> ${methodWords[method]}</li>`)}
        </ul>
      </dd>
    </div>
    ${
      mcp === null
        ? null
        : markup`<div>
            <dt>MCP server</dt>
            <dd><code>${mcp.url}</code></dd>
          </div>`
    }
    <div>
      <dt>Vendor docs</dt>
      <dd>${docs === null ? columns.vendor_docs : outward(docs, markup`${hostOf(docs)}`)}</dd>
    </div>
  </dl>`;
}

function hostOf(url: string): string {
  return new URL(url).hostname;
}

const claimWords: Record<Claim, string> = {
  fields: "fields",
  grant: "grant",
  docs: "documentation",
  mcp: "MCP server",
  oauth: "OAuth at the vendor",
};

function sources(evidence: Evidence[]): Html {
  if (evidence.length === 0)
    return markup`<h2>Sources</h2>
      <p>None: nothing is claimed of this vendor.</p>`;
  return markup`<h2>Sources</h2>
    <ul class="sources">
      ${evidence.map(
        ({ url, for: claims, by, seen }) =>
          markup`<li>
            ${outward(url, markup`${placeOf(url)}`)}<span class="under"
              >${claims.map((claim) => claimWords[claim]).join(", ")}${by === "vendor" ? " by the vendor" : null}; seen <time datetime="${seen}">${seen}</time></span
            >
          </li>`,
      )}
    </ul>`;
}

/** A file in a GitHub repository is shown as repository and file; any other source as host and path. */
function placeOf(url: string): string {
  const { hostname, pathname } = new URL(url);
  const [, repository, file] = /^\/([^/]+\/[^/]+)\/blob\/[^/]+\/(.+)$/.exec(pathname) ?? [];
  if (hostname === "github.com" && repository !== undefined) return `${repository}: ${file}`;
  return `${hostname}${pathname.replace(/\/$/, "")}`;
}

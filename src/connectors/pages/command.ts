/** The command that creates a connection, and the shape of the file that it reads. */
import type { ConnectorRow } from "../catalog/row.ts";
import type { CredentialSet } from "../catalog/files/schema.ts";
import { credentialsFile, labelsOf } from "./credential-form.ts";
import { markup, type Html } from "../../http/html.ts";

/** One for each set of credentials; the script shows the chosen one. */
export function connectCommands({ slug, credential_sets }: ConnectorRow): Html {
  if (credential_sets.length === 0) return command({ id: "command", words: createWords(slug) });
  return markup`${credential_sets.map((set, number) => forSet(set, { slug, number, several: credential_sets.length > 1 }))}`;
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
    ${optional ? markup`<p class="hint">What is optional may stay empty or be left out.</p>` : null}
    ${long ? markup`<p class="hint">Within the quotes, a line break is written as <code>\\n</code> and a quote as <code>\\"</code>.</p>` : null}
    <p>The command takes it:</p>
    ${command({ id: `command-${number}`, words })}
  </div> `;
}

function createWords(slug: string): string[] {
  return ["npm run -s weir -- connection create", "--workspace WORKSPACE", `--connector ${slug}`];
}

/** Broken between its flags, so that it is readable on a phone and works when pasted. */
function command({ id, words }: { id: string; words: string[] }): Html {
  return markup`<div class="command">
    <pre><code id="${id}">${words.join(" \\\n  ")}</code></pre>
    <button type="button" class="quiet" data-copies="${id}" data-scripted hidden>Copy the command</button>
  </div>`;
}

function shapeOf({ fields }: CredentialSet): string {
  return JSON.stringify(Object.fromEntries(fields.map(({ key }) => [key, ""])), null, 2);
}

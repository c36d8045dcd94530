/**
 * The pages of the API reference: an overview, and a page for each part, with their navigation. Errors that many operations of a part share
 * appear once, at its end.
 */
import { markup, type Html } from "../../http/html.ts";
import { pageDocument } from "../../http/page.ts";
import { errorTable } from "../../kernel/errors.ts";
import type { DescribedAnswer, Part } from "./described.ts";
import { fieldList, objectForms, operationSection } from "./operation-section.ts";
import { schemaId } from "./shape.ts";
import { copyScript, siteHeader, siteStyle, referencePath, definition, prose } from "./site.ts";

const referenceStyle = siteStyle(new URL("reference.css", import.meta.url));

export interface ReferencePage {
  title: string;
  /** The part that it shows; null: the overview. */
  part: Part | null;
  main: Html;
  /** Its sections, as the navigation lists them. */
  sections: [id: string, label: string][];
}

export function partPath({ name }: Pick<Part, "name">): string {
  return `${referencePath}/${name}`;
}

/** @param parts all of them, which the navigation lists */
export function referenceText(page: ReferencePage, parts: readonly Part[], consoleOn: boolean): string {
  return pageDocument({
    title: `${page.title} · Weir`,
    style: referenceStyle,
    scripts: [copyScript],
    header: siteHeader({ words: "API reference", consoleOn }),
    main: markup`<div class="reference">${partNavigation(page, parts)}<div class="content">${page.main}</div></div>`,
    footer: markup`<footer class="foot">
      <div>
        <p>As data: <a href="/openapi.json">OpenAPI 3.1</a></p>
      </div>
    </footer>`,
  });
}

export function partPage(part: Part): ReferencePage {
  const { title, description, operations } = part;
  const sections = sectionsOf(part);
  const main = markup`<h1>${title}</h1>
    <p class="lead">${prose(description)}.</p>
    <details class="narrow">
      <summary>On this page</summary>
      ${sectionLinks(sections)}
    </details>
    ${operations.map(operationSection)} ${codeSection(part)} ${errorSection(part)} ${schemaSection(part)} ${headerSection(part)}`;
  return { title: `${title} · API reference`, part, main, sections };
}

function partNavigation({ part, sections }: ReferencePage, parts: readonly Part[]): Html {
  const link = (path: string, title: string, current: boolean): Html =>
    markup`<li><a href="${path}"${current ? markup` aria-current="page"` : null}>${title}</a></li>`;
  return markup`<nav class="parts" aria-label="Parts of the reference">
    <ul>
      ${link(referencePath, "Overview", part === null)} ${parts.map((one) => link(partPath(one), one.title, one.name === part?.name))}
    </ul>
    <div class="wide">${sectionLinks(sections)}</div>
  </nav>`;
}

function sectionLinks(sections: ReferencePage["sections"]): Html {
  return markup`<ul class="sections">
    ${sections.map(([id, label]) => markup`<li><a href="#${id}">${prose(label)}</a></li>`)}
  </ul>`;
}

const endTitles: Record<string, string> = { codes: "Codes of errors", errors: "Errors", schemas: "Schemas", headers: "Headers" };

function sectionsOf({ name, operations, schemas, headers }: Part): ReferencePage["sections"] {
  const ends = {
    codes: codesOf(name).length,
    errors: sharedErrors(operations).size,
    schemas: schemas.length,
    headers: headers.length,
  };
  return [
    ...operations.map(({ operation, label }): [string, string] => [operation.operationId, label]),
    ...Object.entries(ends).flatMap(([id, count]): [string, string][] => (count > 0 ? [[id, endTitles[id] ?? id]] : [])),
  ];
}

/** The shared errors by status. */
function sharedErrors(operations: Part["operations"]): Map<string, DescribedAnswer> {
  const answers = operations.flatMap((one) => one.answers.filter(({ shared }) => shared));
  return new Map(answers.map((answer) => [answer.status, answer]));
}

function errorSection({ operations }: Part): Html | null {
  const byStatus = sharedErrors(operations);
  if (byStatus.size === 0) return null;
  const items = [...byStatus.keys()]
    .toSorted()
    .map((status) => definition({ id: `error-${status}`, term: status, words: prose(byStatus.get(status)?.description ?? "") }));
  return markup`<section aria-labelledby="errors">
    <h2 id="errors">Errors</h2>
    <p>Each status with the codes of <code>error.code</code>:</p>
    <dl class="answers">${items}</dl>
  </section>`;
}

/** The codes that the API's errors have, each with a place that the Console links to. */
function codesOf(part: string): [code: string, error: { status: number; message: string; shouldRetry?: boolean }][] {
  return part === "inference" ? Object.entries(errorTable) : [];
}

function codeSection({ name }: Part): Html | null {
  const codes = codesOf(name);
  if (codes.length === 0) return null;
  const items = codes.map(([code, { status, message, shouldRetry }]) => {
    const retry = shouldRetry === undefined ? "" : shouldRetry ? " Try again later." : " Do not repeat it unchanged.";
    const words = markup`<p>${status}: ${prose(message.replace("{prefix}", "the service’s name"))}.${retry}</p>`;
    return definition({ id: `error-${code}`, term: markup`<code>${code}</code>`, words });
  });
  return markup`<section aria-labelledby="codes">
    <h2 id="codes">Codes of errors</h2>
    <p>Each <code>error.code</code> with its status and its usual message:</p>
    <dl class="answers">${items}</dl>
  </section>`;
}

function schemaSection({ schemas }: Part): Html | null {
  if (schemas.length === 0) return null;
  return markup`<section aria-labelledby="schemas">
    <h2 id="schemas">Schemas</h2>
    ${schemas.map(
      ([name, shape]) =>
        markup`<h3 id="${schemaId(name)}">${name}</h3>
          ${shape.description === "" ? null : markup`<p>${prose(shape.description)}</p>`}
          ${objectForms(shape).map(({ fields }) => fieldList(fields, "answer"))}`,
    )}
  </section>`;
}

function headerSection({ headers }: Part): Html | null {
  if (headers.length === 0) return null;
  return markup`<section aria-labelledby="headers">
    <h2 id="headers">Headers of answers</h2>
    <dl class="answers">
      ${headers.map(([name, { description }]) =>
        definition({ id: `header-${name}`, term: markup`<code>${name}</code>`, words: markup`${prose(description)}.` }),
      )}
    </dl>
  </section>`;
}

/**
 * One operation of the reference: method, path, fields, answers and an example. Fields are a nested list: name, type, whether a field is
 * required, what it means, and its bounds. Nested objects are collapsed, so that a reader can skim the page.
 */
import { markup, type Html } from "../../http/html.ts";
import type { MediaType, Parameter } from "../../openapi/operation.ts";
import { curlOf } from "./curl.ts";
import type { DescribedAnswer, DescribedOperation } from "./described.ts";
import { typeWords, boundWords, shapeOf, type ShapeField, withoutNull, type Shape } from "./shape.ts";
import { codeBlock, definition, joined, prose } from "./site.ts";

export function operationSection(described: DescribedOperation): Html {
  const { operation, title, remark } = described;
  const { operationId: id, description = "" } = operation;
  return markup`<section class="operation" aria-labelledby="${id}">
    <h2 id="${id}">${prose(title)}</h2>
    ${methodLine(described)} ${remark === "" ? null : markup`<p>${prose(remark)}.</p>`}
    ${description === "" ? null : markup`<p>${prose(sentence(description))}</p>`}
    <p class="hint">${keyWords(described)}</p>
    ${parameterList(described.parameters)} ${bodyFields(described)} ${answerList(described.answers)}
    <h3>Example</h3>
    ${codeBlock({ id: `${id}-example`, what: "the example", code: curlOf(described) })}
  </section>`;
}

/** In a request, fields are required or optional; in an answer, only fields that may be absent are marked. */
type Side = "request" | "answer";

export function fieldList(fields: readonly ShapeField[], side: Side): Html {
  return markup`<ul class="fields">
    ${fields.map((field) => fieldItem(field, side))}
  </ul>`;
}

/** The unnamed objects that a value can be or contain. */
export function objectForms(shape: Shape): Shape[] {
  const { branches, items, values, fields } = withoutNull(shape);
  if (fields.length > 0) return [withoutNull(shape)];
  return [...branches, ...(items === null ? [] : [items]), ...(values === null ? [] : [values])].flatMap(objectForms);
}

function methodLine({ methods, path }: DescribedOperation): Html {
  return markup`<p class="path">
    ${methods.map((method) => markup`<span class="method">${method}</span> `)}<code>${path}</code>
  </p>`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

const keys: Record<string, string> = {
  apiKey: "an API key",
  apiKeyHeader: "one in x-api-key",
  ApiKeyAuth: "a tools key",
  operatorToken: "the operator token",
};

function keyWords({ operation: { security } }: DescribedOperation): Html {
  const schemes = security.flatMap((one) => Object.keys(one));
  if (schemes.length === 0) return markup`Needs no key.`;
  const optional = security.some((one) => Object.keys(one).length === 0);
  const links = schemes.map((scheme) => markup`<a href="/reference#${scheme}">${keys[scheme] ?? scheme}</a>`);
  return markup`${optional ? "Needs no key; takes" : "Needs"} ${joined(links, " or ")}.`;
}

function parameterList(parameters: readonly Parameter[]): Html | null {
  if (parameters.length === 0) return null;
  const places: [Parameter["in"], string][] = [
    ["path", "In the path"],
    ["query", "In the query"],
    ["header", "Headers"],
  ];
  const groups = places.map(([place, words]) => ({ words, held: parameters.filter((parameter) => parameter.in === place) }));
  return markup`${groups
    .filter(({ held }) => held.length > 0)
    .map(
      ({ words, held }) => markup`<h3>${words}</h3>
      ${fieldList(held.map(asField), "request")}`,
    )}`;
}

function asField({ name, required, schema, description }: Parameter): ShapeField {
  return { name, required, shape: { ...shapeOf(schema), description } };
}

function bodyFields({ body, sameBody, operation: { requestBody } }: DescribedOperation): Html | null {
  if (requestBody === undefined) return null;
  if (sameBody !== null)
    return markup`<h3>Fields of the body</h3>
      <p>As in <a href="#${sameBody.id}">${prose(sameBody.title)}</a>.</p>`;
  if (body === null) {
    const types = Object.entries(requestBody.content).map(([type, { schema }]) => {
      const { description } = shapeOf(schema);
      return markup`<p><code>${type}</code>${description === "" ? null : markup`: ${prose(description)}`}</p>`;
    });
    return markup`<h3>Body</h3>
      ${types}`;
  }
  if (body.fields.length === 0)
    return markup`<h3>Body</h3>
      <p>${body.description === "" ? markup`An object without fields: <code>{}</code>` : prose(body.description)}.</p>`;
  return markup`<h3>Fields of the body</h3>
    ${fieldList(body.fields, "request")}`;
}

/** Errors that many operations share are described once on the page. */
function answerList(answers: readonly DescribedAnswer[]): Html {
  const own = answers.filter(({ shared }) => !shared);
  const shared = answers.filter((one) => one.shared);
  const links = shared.map(({ status }) => markup`<a href="#error-${status}">${status}</a>`);
  return markup`<h3>Answers</h3>
    <dl class="answers">
      ${own.map(answerItem)} ${links.length === 0 ? null : definition({ term: "Errors", words: joined(links) })}
    </dl>`;
}

function answerItem({ status, description, headers, content }: DescribedAnswer): Html {
  const names = Object.keys(headers ?? {}).map((name) => markup`<a href="#header-${name}"><code>${name}</code></a>`);
  const words = markup`<p>${prose(sentence(description))}</p>
    ${status.startsWith("2") ? Object.entries(content ?? {}).map(contentOf) : null}
    ${names.length === 0 ? null : markup`<p class="hint">Headers: ${joined(names)}</p>`}`;
  return definition({ term: status, words });
}

function contentOf([type, { schema }]: [string, MediaType]): Html {
  const shape = shapeOf(schema);
  const forms = shape.reference === null ? objectForms(shape) : [];
  const fields = forms.map(
    (form) =>
      markup`<details>
        <summary>Fields of the answer</summary>
        ${fieldList(form.fields, "answer")}
      </details>`,
  );
  const words = shape.description === "" ? typeWords(shape) : prose(shape.description);
  return markup`<p class="content"><code>${type}</code>: ${words}</p>
    ${fields}`;
}

function fieldItem({ name, required, shape }: ShapeField, side: Side): Html {
  const bounds = boundWords(shape);
  return markup`<li>
    <p class="field"><code>${name}</code> <span class="type">${typeWords(shape)}</span>${presence(required, side)}</p>
    ${shape.description === "" ? null : markup`<p>${prose(shape.description)}</p>`}
    ${bounds.length === 0 ? null : markup`<p class="bounds">${joined(bounds, "; ")}</p>`} ${innerForms(name, shape, side)}
  </li>`;
}

function presence(required: boolean, side: Side): Html | null {
  if (side === "answer") return required ? null : markup` <span class="presence">may be absent</span>`;
  return required ? markup` <span class="presence required">required</span>` : markup` <span class="presence">optional</span>`;
}

/** Collapsed, so that a reader can skim the page. */
function innerForms(name: string, shape: Shape, side: Side): Html[] {
  const forms = objectForms(shape);
  return forms.map((form) => {
    const label = forms.length === 1 ? null : formLabel(form);
    return markup`<details>
      <summary>Fields of <code>${name}</code>${label}</summary>
      ${fieldList(form.fields, side)}
    </details>`;
  });
}

/** What distinguishes one form from the others: the first field whose values are enumerated. */
function formLabel({ fields }: Shape): Html | null {
  const field = fields.find(({ required, shape }) => required && shape.words.length > 0);
  if (field === undefined) return null;
  const words = field.shape.words.map((word) => markup`<code>${String(word)}</code>`);
  return markup`, ${field.name} ${joined(words, ", ", " or ")}`;
}

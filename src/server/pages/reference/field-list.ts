/** The fields of an object as a nested list: name, type, whether it is required, what it means, and its bounds. */
import { markup, type Html } from "../../../http/html.ts";
import { joined, prose } from "./prose.ts";
import { boundWords, typeWords } from "./schema-words.ts";
import { withoutNull, type Shape, type ShapeField } from "./shape.ts";

/** Of a request, fields are required or optional; of an answer, only fields that may be absent are marked. */
export type Side = "request" | "answer";

export function fieldList(fields: readonly ShapeField[], side: Side): Html {
  return markup`<ul class="fields">
    ${fields.map((field) => fieldItem(field, side))}
  </ul>`;
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

/** Folded, so that a page can be read from above. */
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

/** The objects that a value can be or contain, without those that have a name. */
export function objectForms(shape: Shape): Shape[] {
  const { branches, items, values, fields } = withoutNull(shape);
  if (fields.length > 0) return [withoutNull(shape)];
  return [...branches, ...(items === null ? [] : [items]), ...(values === null ? [] : [values])].flatMap(objectForms);
}

/** What tells one form from the others: the first field whose values are enumerated. */
function formLabel({ fields }: Shape): Html | null {
  const field = fields.find(({ required, shape }) => required && shape.words.length > 0);
  if (field === undefined) return null;
  const words = field.shape.words.map((word) => markup`<code>${String(word)}</code>`);
  return markup`, ${field.name} ${joined(words, ", ", " or ")}`;
}

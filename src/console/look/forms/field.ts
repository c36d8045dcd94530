/** One field of a form: its label, its hint, its input and what is wrong with it. */
import { markup, type Html } from "../../../http/html.ts";

export interface Choice {
  value: string;
  label: string;
}

interface Common {
  name: string;
  label: string;
  hint?: string;
  /** Marked as optional unless it is required. */
  required?: boolean;
}

export type Field = Common &
  (
    | {
        kind: "text" | "email" | "password" | "url" | "date" | "search" | "money" | "whole";
        /** Which value browsers may fill in; https://html.spec.whatwg.org/#autofill */
        autocomplete?: string;
        charactersMax?: number;
      }
    | { kind: "lines"; rows?: number; charactersMax?: number; code?: boolean }
    | { kind: "choice"; choices: readonly Choice[] }
    | { kind: "radios"; choices: readonly (Choice & { hint?: string })[] }
    /** Its value is `true`, or absent. */
    | { kind: "check" }
    /** Its form needs `files`. */
    | { kind: "file"; accept: string }
  );

/** @param prefix makes ids unique where a page has several forms */
export function fieldElement(
  field: Field,
  { prefix, value, problem }: { prefix: string; value: string; problem: string | null },
): Html {
  const id = `${prefix}-${field.name}`;
  const described = [...(field.hint === undefined ? [] : [`${id}-hint`]), ...(problem === null ? [] : [`${id}-problem`])];
  const told = problem === null ? null : inWords(problem, field);
  const attributes = markup`${described.length === 0 ? null : markup` aria-describedby="${described.join(" ")}"`}${problem === null ? null : markup` aria-invalid="true"`}`;
  const hint = field.hint === undefined ? null : markup`<p class="hint" id="${id}-hint">${field.hint}</p>`;
  const wrong = problem === null ? null : markup`<p class="problem" id="${id}-problem"><bdi>${told}</bdi></p>`;
  const place: Place = { id, value, attributes };
  if (field.kind === "radios") return radios(field, { ...place, hint, wrong });
  if (field.kind === "check") return check(field, { ...place, hint, wrong });
  const optional = field.required === true ? null : markup` <span class="optional">(optional)</span>`;
  return markup`<div class="field"><label for="${id}">${field.label}${optional}</label>${hint}${input(field, place)}${wrong}</div>`;
}

/** The control API names the field as its callers know it. */
function inWords(problem: string, { name, label }: Common): string {
  return name.includes("_") ? problem.replaceAll(name, label.charAt(0).toLowerCase() + label.slice(1)) : problem;
}

interface Place {
  id: string;
  value: string;
  attributes: Html;
}

type Around = Place & { hint: Html | null; wrong: Html | null };

function input(field: Exclude<Field, { kind: "radios" | "check" }>, { id, value, attributes }: Place): Html {
  const shared = markup`id="${id}" name="${field.name}"${attributes}${field.required === true ? markup` required` : null}`;
  if (field.kind === "choice")
    return markup`<select ${shared} autocomplete="off">${field.choices.map((choice) => option(choice, value))}</select>`;
  if (field.kind === "lines")
    return markup`<textarea ${shared} rows="${field.rows ?? 4}"${maximum(field.charactersMax)}${field.code === true ? markup` class="code" spellcheck="false"` : null} dir="auto" autocomplete="off">
${value}</textarea>`;
  if (field.kind === "file") return markup`<input ${shared} type="file" accept="${field.accept}" />`;
  return markup`<input ${shared} ${typeOf(field.kind)} value="${value}"${maximum(field.charactersMax)} autocomplete="${field.autocomplete ?? "off"}"${field.kind === "text" || field.kind === "search" ? markup` dir="auto"` : null} />`;
}

/** Numbers are text with a fitting keyboard: a wheel or an arrow key must not change an amount. */
function typeOf(kind: string): Html {
  if (kind === "money") return markup`type="text" inputmode="decimal" placeholder="0.00"`;
  if (kind === "whole") return markup`type="text" inputmode="numeric"`;
  return markup`type="${kind}"`;
}

function option({ value, label }: Choice, chosen: string): Html {
  return markup`<option value="${value}"${value === chosen ? markup` selected` : null}>${label}</option>`;
}

function maximum(characters: number | undefined): Html | null {
  return characters === undefined ? null : markup` maxlength="${characters}"`;
}

function radios(
  { name, label, choices }: Extract<Field, { kind: "radios" }>,
  { id, value, hint, wrong, attributes }: Around,
): Html {
  const items = choices.map((choice) => {
    const own = choice.hint === undefined ? null : markup`<span class="under">${choice.hint}</span>`;
    const checked = choice.value === value ? markup` checked` : null;
    return markup`<label class="choice"><input type="radio" name="${name}" value="${choice.value}"${checked} autocomplete="off" /><span>${choice.label}${own}</span></label>`;
  });
  return markup`<fieldset class="field" id="${id}"${attributes}><legend>${label}</legend>${hint}${items}${wrong}</fieldset>`;
}

function check({ name, label }: Extract<Field, { kind: "check" }>, { id, value, hint, wrong, attributes }: Around): Html {
  const checked = value === "true" ? markup` checked` : null;
  return markup`<div class="field"><label class="choice"><input type="checkbox" id="${id}" name="${name}" value="true"${attributes}${checked} autocomplete="off" /><span>${label}</span></label>${hint}${wrong}</div>`;
}

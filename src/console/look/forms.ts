/**
 * Forms that change something, and forms that filter. The first are sent by POST. After a refusal they keep what was typed and name the
 * wrong field, but a secret is never written back into its field. The second choose rows by the address alone, so that they work without a
 * script and the address can be shared.
 */
import { markup, type Html } from "../../http/html.ts";
import { content, type Content } from "./parts.ts";

export interface FormState {
  /** By field name: what was typed, or the current value. */
  values: Readonly<Record<string, string>>;
  /** As in DomainError. A problem without a field, or with one that the form lacks, is shown above the form. */
  problem: { field: string | null; message: string } | null;
}

interface Form {
  /** Prefix of the fields' ids, unique on its page. */
  id: string;
  action: string;
  /** Sent with it and not shown. */
  hidden?: Readonly<Record<string, string>>;
  fields: readonly Field[];
  state: FormState;
  /** Such as "Save". */
  submit: string;
  /** `bad` for what cannot be undone. */
  tone?: "bad";
  /** Leads back without a change; in a dialog, closes it. */
  cancelPath?: string;
  /** For a field of the kind `file`. */
  files?: boolean;
}

export const emptyForm: FormState = { values: {}, problem: null };

/** Fields that a form sends and does not show. */
export function hiddenInputs(values: Readonly<Record<string, string>>): Html[] {
  return Object.entries(values).map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}" />`);
}

/** The script asks before it discards what was typed, and sends it once. */
export function form({ id, action, hidden = {}, fields, state, submit, tone, cancelPath, files = false }: Form): Html {
  const { values, problem } = state;
  const named = problem !== null && fields.some(({ name }) => name === problem.field);
  const elements = fields.map((field) =>
    fieldElement(field, {
      prefix: id,
      value: field.kind === "password" ? "" : (values[field.name] ?? ""),
      problem: named && problem.field === field.name ? problem.message : null,
    }),
  );
  return markup`<form class="form" method="post" action="${action}"${files ? markup` enctype="multipart/form-data"` : null} data-guards${problem === null ? null : markup` data-refused`}>
    ${problem === null || named ? null : markup`<p class="notice bad" role="alert"><bdi>${problem.message}</bdi></p>`}
    ${hiddenInputs(hidden)}${elements}
    <div class="form-end">
      <button type="submit"${tone === "bad" ? markup` class="danger"` : null}>${submit}</button>${cancelPath === undefined ? null : markup`<a class="button quiet" href="${cancelPath}" data-closes>Cancel</a>`}
    </div>
  </form>`;
}

/** Confirms something that cannot be undone. @param warning says what happens, and to what */
export function confirmForm({
  warning,
  ...rest
}: Pick<Form, "id" | "action" | "hidden" | "submit" | "cancelPath"> & { warning: Content; state?: FormState }): Html {
  return markup`<p class="warning">${content(warning)}</p>${form({ fields: [], state: emptyForm, tone: "bad", ...rest })}`;
}

/** A button that is its own form, for a step that can be undone. */
export function actionButton({
  action,
  label,
  what,
  hidden = {},
}: {
  action: string;
  label: string;
  what?: string;
  hidden?: Readonly<Record<string, string>>;
}): Html {
  const unseen = what === undefined ? null : markup`<span class="unseen"> ${what}</span>`;
  return markup`<form class="inline" method="post" action="${action}">${hiddenInputs(hidden)}<button type="submit" class="quiet">${label}${unseen}</button></form>`;
}

// One field of a form: its label, hint, input and problem.

export interface Choice {
  value: string;
  label: string;
}

interface Common {
  name: string;
  label: string;
  hint?: string | Html;
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
  const attributes = markup`${described.length === 0 ? null : markup` aria-describedby="${described.join(" ")}"`}${problem === null ? null : markup` aria-invalid="true"`}`;
  const hint = field.hint === undefined ? null : markup`<p class="hint" id="${id}-hint">${field.hint}</p>`;
  const wrong = problem === null ? null : markup`<p class="problem" id="${id}-problem"><bdi>${inWords(problem, field)}</bdi></p>`;
  const place: Place = { id, value, attributes };
  if (field.kind === "radios") return radios(field, { ...place, hint, wrong });
  if (field.kind === "check") return check(field, { ...place, hint, wrong });
  const optional = field.required === true ? null : markup` <span class="optional">(optional)</span>`;
  return markup`<div class="field"><label for="${id}">${field.label}${optional}</label>${hint}${input(field, place)}${wrong}</div>`;
}

/**
 * The control API speaks to programs: it quotes the value and names the field. Beside the field a person needs only what to enter. In other
 * messages the label replaces the name.
 */
function inWords(problem: string, { name, label }: Common): string {
  const end = " is needed.";
  if (problem.startsWith("Cannot take ") && problem.endsWith(end)) {
    // A form leaves the field empty for null.
    const needed = problem.slice(problem.lastIndexOf(": ") + 2, -end.length).replace(", or null", "");
    const amount = "a decimal number of USD";
    return needed.startsWith(amount)
      ? `Enter an amount in USD${needed.slice(amount.length)}, such as 25.00.`
      : `Enter ${needed}.`;
  }
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

/** Numbers are text with a numeric keyboard: a wheel or an arrow key must not change an amount. */
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

function check(
  { name, label, required }: Extract<Field, { kind: "check" }>,
  { id, value, hint, wrong, attributes }: Around,
): Html {
  const marks = markup`${value === "true" ? markup` checked` : null}${required === true ? markup` required` : null}`;
  return markup`<div class="field"><label class="choice"><input type="checkbox" id="${id}" name="${name}" value="true"${attributes}${marks} autocomplete="off" /><span>${label}</span></label>${hint}${wrong}</div>`;
}

// Filters of a list, in the address alone: they work without a script, and can be shared.

export interface Filter {
  name: string;
  label: string;
  /** Empty: not set. */
  value: string;
  /** A `choice` begins with one for all; `date` is a day in UTC. */
  kind: "text" | "date" | "choice";
  choices?: readonly Choice[];
  charactersMax?: number;
  /** Used so rarely that "More filters" opens it, unless it is set. */
  isFurther?: boolean;
}

interface FilterForm {
  /** Where the list is. */
  path: string;
  filters: readonly Filter[];
  /** Fields of the query that each change keeps, such as the tab. The cursor is not among them. */
  kept?: Readonly<Record<string, string>>;
  /** Absent: "Filter". */
  submit?: string;
}

/** Of more than two, a phone shows only a button that opens them. */
export function filterForm({ path, filters, kept = {}, submit = "Filter" }: FilterForm): Html {
  const set = filters.filter(({ value }) => value !== "");
  const further = filters.filter(({ isFurther = false }) => isFurther);
  const usual = filters.filter((filter) => !further.includes(filter));
  const fields = markup`<form class="filters" role="search" method="get" action="${path}">
    ${hiddenInputs(kept)}${usual.map(filterElement)}
    <p><button type="submit" class="quiet">${submit}</button></p>${further.length === 0 ? null : furtherFilters(further)}
  </form>`;
  return markup`${filters.length > 2 ? folded(fields, set.length) : fields}${set.length === 0 ? null : chips({ path, filters: set, kept })}`;
}

/** Fewer rows can be seen at once. */
const rowsToFindMin = 10;

interface Finder {
  path: string;
  /** What the text is looked for in. */
  label: string;
  /** Of the address; empty: none. */
  text: string;
  /** How many rows the page has. */
  rows: number;
  kept?: Record<string, string>;
}

/** Finds rows of a long list by a text; null: the list is short. */
export function findForm({ path, label, text, rows, kept = {} }: Finder): Html | null {
  if (text === "" && rows < rowsToFindMin) return null;
  return filterForm({ path, filters: [{ name: "text", label, kind: "text", value: text }], kept });
}

function furtherFilters(filters: readonly Filter[]): Html {
  const isSet = filters.some(({ value }) => value !== "");
  return markup`<details class="more"${isSet ? markup` open` : null}><summary>More filters</summary>${filters.map(filterElement)}</details>`;
}

function folded(fields: Html, set: number): Html {
  return markup`<details class="folds"><summary class="button quiet">${set === 0 ? "Filters" : `Filters (${set})`}</summary>${fields}</details>`;
}

/** What is set, each with a link that removes it. */
function chips({ path, filters, kept = {} }: FilterForm): Html {
  const without = (left: Filter): string =>
    address(path, {
      ...kept,
      ...Object.fromEntries(filters.filter((one) => one !== left).map(({ name, value }) => [name, value])),
    });
  const chip = (filter: Filter): Html =>
    markup`<li><span>${filter.label}: <bdi>${shownValue(filter)}</bdi></span><a href="${without(filter)}" aria-label="Remove the filter ${filter.label}">✕</a></li>`;
  return markup`<ul class="chips" role="list" aria-label="Filters that are set">${filters.map(chip)}<li class="clear"><a href="${address(path, kept)}">Clear</a></li></ul>`;
}

function shownValue({ value, choices }: Filter): string {
  return choices?.find((choice) => choice.value === value)?.label ?? value;
}

function filterElement({ name, label, value, kind, choices = [], charactersMax = 200 }: Filter): Html {
  const id = `filter-${name}`;
  const option = (choice: Choice): Html =>
    markup`<option value="${choice.value}"${choice.value === value ? markup` selected` : null}>${choice.label}</option>`;
  const element =
    kind === "choice"
      ? markup`<select id="${id}" name="${name}" autocomplete="off">${choices.map(option)}</select>`
      : markup`<input id="${id}" name="${name}" type="${kind === "date" ? "date" : "search"}" value="${value}" maxlength="${charactersMax}" dir="auto" autocomplete="off" spellcheck="false" />`;
  return markup`<p><label for="${id}">${label}</label>${element}</p>`;
}

// Addresses with filters in their query.

/** @param query values that are empty or undefined are left out */
export function address(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(query).flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : []));
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set)}`;
}

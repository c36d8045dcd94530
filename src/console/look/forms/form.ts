/** Forms that change something: they are sent by POST, keep what was typed after a refusal, and name the wrong field. */
import { markup, type Html } from "../../../http/html.ts";
import { content, type Content } from "../user-text.ts";
import { fieldElement, type Field } from "./field.ts";

export interface FormState {
  /** By the names of the fields: what was typed, or what is there now. */
  values: Readonly<Record<string, string>>;
  /** As DomainError has it; a field that the form lacks, and none, are said above it. */
  problem: { field: string | null; message: string } | null;
}

export interface Form {
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
  /** Leads back without a change; in a dialog it closes it. */
  cancelPath?: string;
  /** For a field of the kind `file`. */
  files?: boolean;
}

export const emptyForm: FormState = { values: {}, problem: null };

/** The script asks before it loses what was typed, and sends it once. */
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
    ${Object.entries(hidden).map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}" />`)}${elements}
    <div class="form-end">
      <button type="submit"${tone === "bad" ? markup` class="danger"` : null}>${submit}</button>${cancelPath === undefined ? null : markup`<a class="button quiet" href="${cancelPath}" data-closes>Cancel</a>`}
    </div>
  </form>`;
}

/** Asks before something that cannot be undone. @param warning names what happens and to what */
export function confirmForm({
  warning,
  ...rest
}: Pick<Form, "id" | "action" | "hidden" | "submit" | "cancelPath"> & { warning: Content; state?: FormState }): Html {
  return markup`<p class="warning">${content(warning)}</p>${form({ fields: [], state: emptyForm, tone: "bad", ...rest })}`;
}

/** A button that is a form by itself, for one step that can be undone. */
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
  return markup`<form class="inline" method="post" action="${action}">${Object.entries(hidden).map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}" />`)}<button type="submit" class="quiet">${label}${unseen}</button></form>`;
}

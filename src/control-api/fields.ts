/**
 * Fields and answers that several endpoints share: the workspace, limits of rows, times. A limit above the maximum is refused, not lowered,
 * so that no list is cut off silently.
 */
import { Type, type TObject, type TSchema } from "@sinclair/typebox";
import { DomainError } from "../accounts/errors.ts";
import { line } from "../accounts/workspaces/fields.ts";

export const NamedWorkspace = line("the id or exact name of a workspace");

/** The answer of a list: `{"data": […]}`. */
export function listOf<View extends TSchema>(view: View) {
  return Type.Object({ data: Type.Array(view, { description: "What was found" }) });
}

/** A form with its workspace. */
export function inWorkspace<Form extends TObject>(form: Form) {
  return Type.Composite([Type.Object({ workspace: NamedWorkspace }), form]);
}

/** The fields of a resource that is found by its id. Its workspace is known; a named one must match. */
export function withOptionalWorkspace<Form extends TObject>(form: Form) {
  return Type.Composite([Type.Object({ workspace: Type.Optional(NamedWorkspace) }), form]);
}

export const NoFields = Type.Object({});

/** How many rows of a list the query may ask for. `normal`: the default; absent: all of them. */
export function rowLimit({ normal, max }: { normal?: number; max: number }) {
  const description = `a whole number from 1 to ${max}`;
  const title = normal === undefined ? `How many, at most ${max}` : `How many, 1 to ${max}; default ${normal}`;
  const byDefault = normal === undefined ? {} : { default: String(normal) };
  return Type.Optional(Type.String({ pattern: "^[1-9][0-9]{0,5}$", title, description, ...byDefault }));
}

/** @throws DomainError invalid_field above the maximum */
export function parseRowLimit(text: string | undefined, { normal, max }: { normal: number; max: number }): number {
  const limit = text === undefined ? normal : Number(text);
  if (limit <= max) return limit;
  throw new DomainError("invalid_field", `Cannot list ${limit} rows: at most ${max} are possible`, { field: "limit" });
}

/** @param title what the time means */
export function timeOf(title: string) {
  const pattern = "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?Z$";
  return Type.String({ pattern, title, description: "a time such as 2026-11-20T00:00:00Z" });
}

/** @returns null if it is left out @throws DomainError invalid_field for a day that no calendar has */
export function parseTime(text: string | undefined, field: string): Date | null {
  if (text === undefined) return null;
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time;
  throw new DomainError("invalid_field", `Cannot take "${text}" as ${field}: there is no such time`, { field });
}

/** The number of skipped rows of a list, from the query. */
export const RowOffset = Type.Optional(
  Type.String({ pattern: "^(0|[1-9][0-9]{0,8})$", title: "How many to skip", description: "how many rows to skip, from 0" }),
);

export function parseRowOffset(text: string | undefined): number {
  return Number(text ?? 0);
}

/** One of a few words. @param about the description completes "… is needed"; default: the words */
export function wordOf<const Word extends string>(words: readonly Word[], about: { title?: string; description?: string } = {}) {
  return Type.Unsafe<Word>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      { description: `one of ${words.join(", ")}`, ...about },
    ),
  );
}

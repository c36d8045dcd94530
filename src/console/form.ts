/** Reads the fields of a form that a browser sends. */
import { DomainError } from "../accounts/errors.ts";
import { bodyPieces, type BodyErrors } from "../http/body-pieces.ts";
import { joined } from "../http/body-reader.ts";
import type { Clock } from "../kernel/clock.ts";
import { fileFormMs, formBytesMax, formFieldsMax, formMs } from "./limits.ts";

export class FormFields {
  readonly #fields: ReadonlyMap<string, readonly string[]>;
  readonly #files: ReadonlyMap<string, FormFile>;

  constructor(fields: Iterable<[string, string]> = [], files: Iterable<[string, FormFile]> = []) {
    const byName = new Map<string, string[]>();
    for (const [name, value] of fields) byName.set(name, [...(byName.get(name) ?? []), value]);
    this.#fields = byName;
    this.#files = new Map(files);
  }

  /** What was typed, without spaces around it; empty if the form lacks the field. */
  text(name: string): string {
    return this.raw(name).trim();
  }

  /** What was typed, exactly. */
  raw(name: string): string {
    return this.#fields.get(name)?.[0] ?? "";
  }

  all(name: string): readonly string[] {
    return this.#fields.get(name) ?? [];
  }

  /** The first value of each field. */
  values(): Record<string, string> {
    return Object.fromEntries(Array.from(this.#fields, ([name, [value = ""]]) => [name, value]));
  }

  has(name: string): boolean {
    return this.#fields.has(name);
  }

  /** null: none was chosen. */
  file(name: string): FormFile | null {
    return this.#files.get(name) ?? null;
  }
}

export interface FormFile {
  name: string;
  bytes: Uint8Array;
}

const errors: BodyErrors = {
  encoded: () => new DomainError("invalid_body", "The form must not be compressed"),
  incomplete: () => new DomainError("invalid_body", "The form did not arrive in full and in time"),
  tooLarge: (bytesMax) => new DomainError("body_too_large", `The form is larger than ${bytesMax} bytes`),
};

/** @param bytesMax for a form with a file @throws DomainError invalid_body, body_too_large */
export async function readForm(request: Request, clock: Clock, bytesMax = formBytesMax): Promise<FormFields> {
  const withinMs = bytesMax > formBytesMax ? fileFormMs : formMs;
  const pieces = await Array.fromAsync(bodyPieces(request, { clock, bytesMax, withinMs, errors }));
  const bytes = joined(pieces);
  const type = request.headers.get("content-type") ?? "";
  if (/^multipart\/form-data\b/i.test(type)) return readMultipart(bytes, type);
  const fields = [...new URLSearchParams(new TextDecoder().decode(bytes))];
  return new FormFields(bounded(fields));
}

async function readMultipart(bytes: Uint8Array, type: string): Promise<FormFields> {
  const fields: [string, string][] = [];
  const files: [string, FormFile][] = [];
  const body = new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { "content-type": type } });
  const data = await body.formData().catch(() => {
    throw new DomainError("invalid_body", "The form cannot be read");
  });
  for (const [name, value] of data) {
    if (typeof value === "string") fields.push([name, value]);
    else if (value.size > 0) files.push([name, { name: value.name, bytes: new Uint8Array(await value.arrayBuffer()) }]);
  }
  return new FormFields(bounded(fields), files);
}

function bounded<T>(fields: T[]): T[] {
  if (fields.length > formFieldsMax) throw new DomainError("invalid_body", `The form has more than ${formFieldsMax} fields`);
  return fields;
}

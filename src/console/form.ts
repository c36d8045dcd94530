/**
 * Reads the forms that a browser sends. A form is received through a door, which bounds how many are in memory. It is refused if it is too
 * large, too slow, compressed or has too many fields. Fields are counted before they are read, so that millions of small ones block
 * nothing.
 */
import { bodyTooSlow, DomainError } from "../accounts/errors.ts";
import type { BodyDoor } from "../accounts/quotas/body-door.ts";
import type { Lane } from "../accounts/quotas/lane.ts";
import type { BodyErrors } from "../http/body.ts";
import { type FormFile, FormFields } from "./page.ts";
import { fileFormMs, formBytesMax, formFieldsMax, formMs } from "./limits.ts";

const errors: BodyErrors = {
  encoded: () => new DomainError("invalid_body", "The form must not be compressed"),
  incomplete: () => new DomainError("invalid_body", "The form did not arrive in full and in time"),
  tooSlow: () => bodyTooSlow("form"),
  tooLarge: (bytesMax) => new DomainError("body_too_large", `The form is larger than ${bytesMax} bytes`),
};

/** A form that arrived; it keeps its place at the door until it is disposed of. */
export interface ReceivedForm extends Disposable {
  /** @throws DomainError invalid_body */
  read(): Promise<FormFields>;
}

interface FormDoor {
  door: BodyDoor;
  lane: Lane;
  bytesMax?: number | undefined;
  /** What the refusal of a larger form says. */
  tooLarge?: string | undefined;
}

/**
 * @param bytesMax larger than that of other forms for a form with a file, which browsers send in parts
 * @throws DomainError invalid_body, body_too_large, body_too_slow; LimitReachedError
 */
export async function receiveForm(
  request: Request,
  { door, lane, bytesMax = formBytesMax, tooLarge }: FormDoor,
): Promise<ReceivedForm> {
  const boundary = boundaryOf(request.headers.get("content-type") ?? "");
  const withinMs = bytesMax > formBytesMax ? fileFormMs : formMs;
  const worded = tooLarge === undefined ? errors : { ...errors, tooLarge: () => new DomainError("body_too_large", tooLarge) };
  const bounds = { bytesMax: boundary === null ? Math.min(bytesMax, formBytesMax) : bytesMax, withinMs, errors: worded };
  const body = await door.receive(request, lane, bounds);
  return { read: () => readForm(body.bytes, boundary), [Symbol.dispose]: () => body[Symbol.dispose]() };
}

async function readForm(bytes: Uint8Array, boundary: string | null): Promise<FormFields> {
  requireFew(bytes, boundary === null ? "&" : `--${boundary}`);
  if (boundary !== null) return readMultipart(bytes, boundary);
  return new FormFields(bounded([...new URLSearchParams(new TextDecoder().decode(bytes))]));
}

/**
 * What separates the parts of a form with a file; null: the form has none. @throws DomainError invalid_body for a type that no browser
 * sends
 */
function boundaryOf(type: string): string | null {
  if (!/^multipart\/form-data\b/i.test(type)) return null;
  const [, boundary] = /^multipart\/form-data; *boundary="?([\w'+./=-]{1,70})"?$/i.exec(type) ?? [];
  if (boundary === undefined) throw new DomainError("invalid_body", "The form cannot be read");
  return boundary;
}

/** Counts before anything is read: reading millions of small fields would block the process and use up its memory. */
function requireFew(bytes: Uint8Array, separator: string): void {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let from = body.indexOf(separator);
  // Parts have a separator before and after each, fields only between them; `bounded` counts exactly.
  for (let count = 0; from !== -1; from = body.indexOf(separator, from + separator.length)) {
    if (++count > formFieldsMax + 1) throw tooMany();
  }
}

async function readMultipart(bytes: Uint8Array, boundary: string): Promise<FormFields> {
  const fields: [string, string][] = [];
  const files: [string, FormFile][] = [];
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const body = new Response(bytes as Uint8Array<ArrayBuffer>, { headers });
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
  if (fields.length > formFieldsMax) throw tooMany();
  return fields;
}

function tooMany(): DomainError {
  return new DomainError("invalid_body", `The form has more than ${formFieldsMax} fields`);
}

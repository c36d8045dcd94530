/**
 * A page of the Console as the table of pages holds it: its path, who may see it, what it shows, what its forms do, and what it gets for
 * that. A page is a plain value. The frame, the roles, the forms' tokens and the errors are handled around it, so that it cannot forget
 * them. What a person typed stays text: the endpoint checks it, so that the Console has no second set of rules.
 */
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { Role } from "../accounts/audit/actor.ts";
import type { Passwords } from "../accounts/sessions/passwords.ts";
import type { SavedList } from "../accounts/workspaces/schema.ts";
import type { EarlyAccessFeature } from "../accounts/workspaces/workspaces.ts";
import type { OperatorAuthenticator } from "../control-api/authenticate.ts";
import { type Given, type TypedEndpoint, asTyped, type TypedText } from "../control-api/endpoint.ts";
import type { ControlParts } from "../control-api/parts.ts";
import type { CsvFile } from "../http/csv-response.ts";
import type { Html } from "../http/html.ts";
import type { Asset } from "../http/page.ts";
import type { IconName } from "./look/frame.ts";
import type { Viewer, ViewerRole } from "./viewer.ts";

export interface Page {
  /**
   * What the page belongs to: a workspace's is below /console/w/<workspace>, the operator's below /console/operator, a person's below
   * /console.
   */
  of: "workspace" | "operator" | "person";
  /** Such as `/keys`, `/keys/:id` or, for ids with slashes, `/models/*id`. */
  path: string;
  /** Its place in the navigation; null: another page leads to it. */
  navigation: { section: Section; label: string; icon: IconName } | null;
  /** The roles that may see it; the operator may see every page. */
  roles: readonly Role[];
  /** The list that it shows, of which people save views; its path is the list's name. */
  list?: SavedList;
  /** The early-access feature that switches it on for a workspace; absent: it is on for all. */
  earlyAccess?: EarlyAccessFeature;
  /** The largest form, for a page whose form has a file. */
  formBytesMax?: number;
  /** What the refusal of a larger form says; absent: its bytes. */
  formTooLarge?: string;
  /** For a page that takes longer than others. */
  deadlineMs?: number;
  /**
   * The part of the API reference that tells of the same things, for a newcomer. The service serves it itself, in its own version and without
   * a setting; the guides are in the folder docs of the source, at an address that it does not know.
   */
  reference?: ReferencePart;
  /** Further scripts. */
  scripts?: readonly Asset[];
  /**
   * For a page that refreshes itself: a text that changes with what the page shows, found at little cost; null: not at this address.
   * @throws DomainError
   */
  changes?(call: PageCall): Promise<string | null>;
  /** @throws DomainError, which is shown as a page */
  render(call: PageCall): Promise<PageContent>;
  /** Its forms, by the value of their field `action`. A refused form is shown again, with what was typed. */
  actions?: Record<string, (call: PageCall, form: FormFields) => Promise<ActionResult>>;
  /** The address with `?as=csv`. */
  csv?(call: PageCall): Promise<CsvFile>;
  /** Files in other formats, by the word of `?as=`. */
  files?: Record<string, (call: PageCall) => Promise<PageFile>>;
}

export type ReferencePart = "inference" | "tools" | "control-accounts" | "control-inference" | "control-security";

/** A document in JSON that a page offers to download. */
export interface PageFile {
  /** The name of the file with its extension. */
  name: string;
  document: object;
}

/** Headings of the navigation; null: the first links, which have none. */
export type Section = null | "Inference" | "Security" | "Compliance" | "Workspace" | "Operator";

export interface PageContent {
  title: string;
  /** Next to the title, such as the state of what the page shows. */
  badge?: Html | null;
  /** Below the title: what the page is for, in a sentence. */
  lead?: string | Html | null;
  /** Buttons and links next to the title. */
  actions?: Html | null;
  /** The pages above it. */
  trail?: { path: string; label: string }[];
  main: Html;
}

/** Goes to another page and says there what was done; or shows something once, such as a new key. */
/** `warns`: part of it failed. */
export type ActionResult = { goTo: string; said: string; warns?: boolean } | { show: PageContent };

export interface HereWorkspace {
  id: string;
  name: string;
  role: ViewerRole;
}

export interface PageCall {
  viewer: Viewer;
  /** The workspace of the address, by name and role. */
  workspace: HereWorkspace;
  /** Parameters of the page's path. */
  params: Record<string, string>;
  query: URLSearchParams;
  /** The path of this page, without its query. */
  path: string;
  /** The path of another page of the same kind, such as `/keys`. */
  link(path: string): string;
  /** Whether there is such a page of the workspace, and the viewer's role may see it. */
  offers(path: string): boolean;
  /** Set when a form was refused and is shown again. */
  refused: RefusedForm | null;
  /** The hidden field of every form. */
  formToken: string;
  nowMs: number;
  /** Where people reach the service, such as https://weir.example.com. */
  publicUrl: string;
  /** For the account page, since passwords are not part of the control API. */
  parts: ConsoleParts;
  /**
   * Calls an endpoint of the control API in this process, with the viewer's rights and the same checks as over HTTP. The endpoint types the
   * arguments and the result. The field `workspace` is filled in from the address if the endpoint has one.
   * @throws DomainError
   */
  control<Path extends string, Fields extends TObject, View extends TSchema>(
    endpoint: TypedEndpoint<Path, Fields, View>,
    ...given: ControlArguments<Given<Path, Fields>>
  ): Promise<Static<View>>;
}

/** The arguments may be left out if the endpoint requires none. The file is for endpoints that take one. */
type ControlArguments<Fields> =
  Record<never, never> extends Fields ? [given?: Fields, file?: Uint8Array] : [given: Fields, file?: Uint8Array];

export interface RefusedForm {
  action: string;
  /** The field that was refused; null: the whole form. */
  field: string | null;
  message: string;
  /** What was typed. */
  form: FormFields;
  /** Set by the form that shows it. If no form does, the page shows the message above its contents. */
  isShown: boolean;
}

export interface ConsoleParts {
  control: ControlParts;
  operator: OperatorAuthenticator;
  passwords: Passwords;
}

// The fields of a form or an address, as a person typed them.

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
  text(name: string): TypedText {
    return asTyped(this.raw(name).trim());
  }

  /** What was typed, exactly. */
  raw(name: string): TypedText {
    return asTyped(this.#fields.get(name)?.[0] ?? "");
  }

  all(name: string): readonly TypedText[] {
    return (this.#fields.get(name) ?? []).map(asTyped);
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

/** Those of the named fields that are set in an address, without spaces around them. */
export function queryFields<Name extends string>(query: URLSearchParams, names: readonly Name[]): QueryFields<Name> {
  const fields = names.flatMap((name): [Name, TypedText][] => {
    const text = query.get(name)?.trim() ?? "";
    return text === "" ? [] : [[name, asTyped(text)]];
  });
  // Object.fromEntries forgets the names, which are those above.
  return Object.fromEntries(fields) as QueryFields<Name>;
}

export type QueryFields<Name extends string> = { [Field in Name]?: TypedText };

export interface FormFile {
  name: string;
  bytes: Uint8Array;
}

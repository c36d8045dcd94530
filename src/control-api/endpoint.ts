/**
 * One definition of an endpoint is its check, its route and its description. The fields are checked before the handler runs, so a handler
 * gets typed values, and an error names the first wrong field and what is needed. An endpoint states its deadline and what its body may be.
 * The verb that it calls decides what the caller may do.
 */
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import { DomainError } from "../accounts/errors.ts";
import { checkedFields, findFieldProblem, type FieldProblem } from "../http/field-problem.ts";
import type { RouteContext } from "../http/router.ts";
import type { Clock } from "../kernel/clock.ts";
import { shortened } from "../kernel/text.ts";
import type { ActorResolver } from "./actor-resolver.ts";
import { controlBodyBytesMax, controlDeadlineMs } from "./limits.ts";
import type { ControlParts } from "./parts.ts";

/** The verb of the command line that calls an endpoint. Its flags are the path's `:id` and the fields, its words the endpoint's. */
export interface Command<Field extends string = string> {
  /** Noun and verb, such as `key create`. */
  name: string;
  /** What the schemas do not say about flags, by field or `id`. A text is the flag's name; null leaves the field out. */
  flags?: Readonly<Partial<Record<Field | "id", string | FlagWords | null>>>;
  /** The warning of what cannot be undone: the verb requires `--yes`. */
  confirm?: string;
  /** The words after the verb in the example of its help; absent: the required flags with sample values. */
  example?: string;
  /** One of several calls of a verb that another endpoint or the command line describes. */
  isStep?: boolean;
}

export interface FlagWords {
  /** Its name without the dashes; absent: the field's, with dashes between its words. */
  flag?: string;
  /** The flag takes no value, and is true if given. */
  bare?: boolean;
  /** The word for null; absent: none. */
  none?: string;
  /** It is required unless `--as` names the person. */
  unlessAs?: boolean;
}

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** A request with checked fields. */
export interface EndpointCall<Input> {
  input: Input;
  /** The path's `:id`; empty if it has none. */
  id: string;
  /** Gives the actor in a workspace. */
  actors: ActorResolver;
  request: Request;
  /** null for a call within the process. */
  server: RouteContext["server"];
  /**
   * Reads the file in the body.
   * @throws DomainError invalid_body, body_too_large
   */
  file(): Promise<Uint8Array>;
  parts: ControlParts;
}

/** Reads bodies above `fromBytes` in a subprocess. @throws DomainError invalid_body */
interface SubprocessReading {
  fromBytes: number;
  read(bytes: Uint8Array, clock: Clock): Promise<Record<string, unknown>>;
}

interface Definition<Path extends string, Fields extends TObject, View extends TSchema> {
  method: Method;
  /** Below /api/console; a parameter is written `:id`. */
  path: Path;
  /** A text is the name of a verb that needs no further description; absent: the command line does not call it. */
  command?: string | Command<keyof Static<Fields> & string>;
  summary: string;
  /** The fields of the body; of the query for GET, DELETE and endpoints that take a file or a chat. */
  fields: Fields;
  view: View;
  /** The status of a success; by default 200. */
  status?: number;
  /** For an endpoint that takes longer than a change or a list. */
  deadlineMs?: number;
  /** For an endpoint that takes more than a form. */
  bodyBytesMax?: number;
  /** It reports each part as it ends, to clients that accept `application/x-ndjson`. */
  progress?: boolean;
  /** The body is a file, which this describes. */
  file?: string;
  /** With `format=csv` its rows are a file. */
  csv?: boolean;
  /** With `format=ndjson` its rows are a file. */
  ndjson?: boolean;
  /** With `format=zip` it is an archive. */
  zip?: boolean;
  /** A tools key opens it too: what a build needs. */
  takesToolsKey?: boolean;
  /** Reads the fields of a large body in a subprocess. */
  readInSubprocess?: SubprocessReading;
  /** It is a chat completion: body, answers and errors are those of the inference API, which reads the body. Fields are in the query. */
  completes?: boolean;
  handle(call: EndpointCall<Static<Fields>>): Promise<Static<View> | Response>;
}

/** An endpoint of any fields and answer, as the routes, the documents and the OpenAPI description read it. */
export interface Endpoint {
  method: Method;
  path: string;
  /** null: no verb of the command line calls it. */
  command: Command | null;
  summary: string;
  fields: TObject;
  view: TSchema;
  status: number;
  deadlineMs: number;
  bodyBytesMax: number;
  progress: boolean;
  file: string | null;
  csv: boolean;
  ndjson: boolean;
  zip: boolean;
  takesToolsKey: boolean;
  readInSubprocess: SubprocessReading | null;
  completes: boolean;
  /** Checks the fields, then calls the handler. */
  run(call: EndpointCall<Record<string, unknown>>): Promise<unknown>;
}

/** An endpoint as its definition types it, for calls within the process. */
export interface TypedEndpoint<Path extends string, Fields extends TObject, View extends TSchema> extends Endpoint {
  path: Path;
  fields: Fields;
  view: View;
  run(call: EndpointCall<Record<string, unknown>>): Promise<Static<View> | Response>;
}

/** Text that a person typed or chose, or that is in an address. It may be passed for any field: the endpoint checks it. */
export type TypedText = string & { readonly [typed]: true };
declare const typed: unique symbol;

/** Marks a text that a person typed, so that it may be passed for any field. */
export function asTyped(text: string): TypedText {
  return text as TypedText;
}

/**
 * The arguments of a call within the process: the fields of the endpoint and the `:id` of its path, in one object. The caller fills in the
 * workspace of its page.
 */
export type Given<Path extends string, Fields extends TObject> = (Path extends `${string}/:id${string}`
  ? { id: string }
  : unknown) &
  Partial<Typed<Pick<Static<Fields>, keyof Static<Fields> & "workspace">>> &
  Typed<Omit<Static<Fields>, "workspace">>;

/** The arguments of an endpoint called within the process, such as `typeof keyEndpoints.edit`. */
export type GivenTo<Called> = Called extends TypedEndpoint<infer Path, infer Fields, TSchema> ? Given<Path, Fields> : never;

type Typed<Input> = { [Field in keyof Input]: Input[Field] | TypedText | TypedItems<Input[Field]> };
type TypedItems<Value> = Value extends readonly (infer Item)[] ? readonly (Item | TypedText)[] : never;

export function endpoint<const Path extends string, Fields extends TObject, View extends TSchema>(
  definition: Definition<Path, Fields, View>,
): TypedEndpoint<Path, Fields, View> {
  const { method, path, command = null, summary, fields, view } = definition;
  const {
    status = 200,
    deadlineMs = controlDeadlineMs,
    bodyBytesMax = controlBodyBytesMax,
    progress = false,
    file = null,
    csv = false,
    ndjson = false,
    zip = false,
    takesToolsKey = false,
    readInSubprocess = null,
    completes = false,
  } = definition;
  return {
    method,
    path,
    command: typeof command === "string" ? { name: command } : command,
    summary,
    fields,
    view,
    status,
    deadlineMs,
    bodyBytesMax,
    progress,
    file,
    csv,
    ndjson,
    zip,
    takesToolsKey,
    readInSubprocess,
    completes,
    run: async (call) => definition.handle({ ...call, input: checkFields(fields, call.input) }),
  };
}

/** Checks what a request sent against the fields of its endpoint. @throws DomainError invalid_field for the first problem */
export function checkFields<Fields extends TObject>(fields: Fields, given: Record<string, unknown>): Static<Fields> {
  const problem = findFieldProblem(fields, given);
  if (problem === null) return checkedFields(fields, given);
  const field = problem.kind === "unknown" ? shortened(problem.field, 60) : problem.field;
  throw new DomainError("invalid_field", messageOf(problem, field), { field });
}

function messageOf(problem: FieldProblem, field: string): string {
  if (problem.kind === "missing") return `The field "${field}" is missing: ${problem.needed} is needed`;
  if (problem.kind === "wrong") return `Cannot take the value of "${field}": ${problem.needed} is needed`;
  const { nearest } = problem;
  const hint = nearest === undefined ? "this request takes no fields" : `the nearest known field is "${nearest}"`;
  return `There is no field "${field}": ${hint}`;
}

/**
 * One definition of an endpoint is its check, its route and its description. The fields are checked before the handler runs, so a
 * handler gets values of their types, and an error names the first wrong field and what is needed. An endpoint states how long it may
 * take and what its body may be; what it may do is decided by the verb that it calls.
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
   * Reads the file in the body, in the pieces in which it arrives.
   * @throws DomainError invalid_body, body_too_large
   */
  file(): Promise<Uint8Array[]>;
  parts: ControlParts;
}

/** Reads bodies above `fromBytes` in a subprocess. @throws DomainError invalid_body */
interface SubprocessReading {
  fromBytes: number;
  read(pieces: readonly Uint8Array[], clock: Clock): Promise<Record<string, unknown>>;
}

interface Definition<Fields extends TObject, View extends TSchema> {
  method: Method;
  /** Below /api/console; a parameter is written `:id`. */
  path: string;
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
  /** It reports its parts as they end to clients that accept `application/x-ndjson`. */
  progress?: boolean;
  /** The body is a file, which this describes. */
  file?: string;
  /** With `format=csv` its rows are a file. */
  csv?: boolean;
  /** Reads the fields of a large body in a subprocess. */
  readInSubprocess?: SubprocessReading;
  /** It is a chat completion: body, answers and errors are those of the inference API, which reads the body. Fields are in the query. */
  completes?: boolean;
  handle(call: EndpointCall<Static<Fields>>): Promise<Static<View> | Response>;
}

/** An endpoint as the routes, the documents and the OpenAPI description read it. */
export interface Endpoint {
  method: Method;
  path: string;
  summary: string;
  fields: TObject;
  view: TSchema;
  status: number;
  deadlineMs: number;
  bodyBytesMax: number;
  progress: boolean;
  file: string | null;
  csv: boolean;
  readInSubprocess: SubprocessReading | null;
  completes: boolean;
  /** Checks the fields, then calls the handler. */
  run(call: EndpointCall<Record<string, unknown>>): Promise<unknown>;
}

export function endpoint<Fields extends TObject, View extends TSchema>(definition: Definition<Fields, View>): Endpoint {
  const { method, path, summary, fields, view } = definition;
  const {
    status = 200,
    deadlineMs = controlDeadlineMs,
    bodyBytesMax = controlBodyBytesMax,
    progress = false,
    file = null,
    csv = false,
    readInSubprocess = null,
    completes = false,
  } = definition;
  return {
    method,
    path,
    summary,
    fields,
    view,
    status,
    deadlineMs,
    bodyBytesMax,
    progress,
    file,
    csv,
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

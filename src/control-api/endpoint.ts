import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { Clock } from "../kernel/clock.ts";
import { controlBodyBytesMax, controlDeadlineMs } from "./limits.ts";
import type { ActorResolver } from "./actor-resolver.ts";
import { checkFields } from "./check-fields.ts";
import type { ControlParts } from "./parts.ts";

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** One request, after its fields were checked. */
export interface Call<Input> {
  input: Input;
  /** The last `:parameter` of the path; empty where there is none. */
  id: string;
  /** Gives the actor in a workspace. */
  actors: ActorResolver;
  request: Request;
  /**
   * The body of what takes a file, in the pieces in which it came.
   * @throws DomainError invalid_body, body_too_large
   */
  file(): Promise<Uint8Array[]>;
  parts: ControlParts;
}

/** Bodies of more than so many bytes, and what reads them. @throws DomainError invalid_body */
export interface ReadApart {
  fromBytes: number;
  read(pieces: readonly Uint8Array[], clock: Clock): Promise<Record<string, unknown>>;
}

interface Definition<Fields extends TObject, View extends TSchema> {
  method: Method;
  /** Below /api/console; a parameter is written `:id`. */
  path: string;
  summary: string;
  /** Of the body; of the query for GET and DELETE, and for what takes a file. */
  fields: Fields;
  view: View;
  /** Of an answer that succeeds; 200 unless told. */
  status?: number;
  /** For what takes longer than a change or a list does. */
  deadlineMs?: number;
  /** For what sends more than a form. */
  bodyBytesMax?: number;
  /** Tells its parts as they end, to who accepts `application/x-ndjson`. */
  progress?: boolean;
  /** Its body is a file, as it is; says what for. */
  file?: string;
  /** Reads a large body in a process of its own: its fields, as far as they are to be checked. */
  readApart?: ReadApart;
  handle(call: Call<Static<Fields>>): Promise<Static<View> | Response>;
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
  readApart: ReadApart | null;
  /** Checks the fields, then handles. */
  run(call: Call<Record<string, unknown>>): Promise<unknown>;
}

export function endpoint<Fields extends TObject, View extends TSchema>(definition: Definition<Fields, View>): Endpoint {
  const { method, path, summary, fields, view } = definition;
  const {
    status = 200,
    deadlineMs = controlDeadlineMs,
    bodyBytesMax = controlBodyBytesMax,
    progress = false,
    file = null,
    readApart = null,
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
    readApart,
    run: async (call) => definition.handle({ ...call, input: checkFields(fields, call.input) }),
  };
}

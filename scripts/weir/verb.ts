/** A verb of the command line, as data: its flags, and the request of the control API that it sends or the local action. */
import { type Value, id, text } from "./value.ts";

export interface Flag {
  /** Without the dashes. */
  name: string;
  /** The field of the request, or the parameter of its path. */
  field: string;
  value: Value;
  required?: boolean;
  /** Required unless --as names the person. */
  requiredUnlessAs?: boolean;
  help: string;
}

interface VerbBase {
  noun: string;
  verb: string;
  summary: string;
  /** The argument after the verb that has no flag. */
  operand?: { field: string; placeholder: string; help: string };
  flags: readonly Flag[];
  /** The words after the verb in the example of the help; absent: the required flags with sample values. */
  example?: string;
  /** The warning of a verb that cannot be undone and therefore requires --yes. */
  confirm?: string;
  /** The fields in the text for people; default: all. --json always prints all. */
  columns?: readonly string[];
}

export interface RemoteVerb extends VerbBase {
  method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Below /api/console; `:field` stands for the value of a flag. */
  path: string;
  /** Formats the line for one part of an answer that is a stream of parts with the result at its end. Absent: the answer is no stream. */
  progress?(part: Record<string, unknown>): string;
  /** Formats the answer for people, where a table of its rows is not enough. */
  show?(body: Record<string, unknown>): string;
  /** How long to wait for the end of the answer; absent: a minute, with progress or a file eleven. */
  msMax?: number;
}

/** Needs only files or the database, and no service. */
export interface LocalVerb extends VerbBase {
  local(fields: Record<string, unknown>, files: Files): Promise<LocalAnswer>;
}

/** Makes several calls, such as one for each batch of a local file or for each page of a list. */
export interface SendingVerb extends VerbBase {
  /** The path below /api/console for `post`; absent: it only reads. */
  sends?: string;
  /** The path for `upload`; default: `sends`. */
  uploads?: string;
  /** The path below /api/console that it mainly reads. */
  reads?: string;
  /** A further path for `note`. */
  notes?: string;
  send(fields: Record<string, unknown>, sending: Sending): Promise<LocalAnswer>;
}

export interface Sending {
  /** Sends one request. @returns its answer @throws CallError unless the service answers with success */
  post(fields: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Sends one request to the path of `notes`; else like `post`. */
  note(fields: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Reads from a path below /api/console; else like `post`. */
  get(path: string, query: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Sends a request whose body is a file; else like `post`. */
  upload(file: Upload): Promise<Record<string, unknown>>;
  /** Prints a line of progress. */
  showProgress(line: string): void;
}

interface Upload {
  query: Record<string, unknown>;
  body: Uint8Array<ArrayBuffer>;
}

/** The locations of local files. */
export interface Files {
  catalogDir: string;
}

export interface LocalAnswer {
  /** The output of --json; `ok: false` makes the exit code 1. */
  body: Record<string, unknown>;
  /** The output for people. */
  text: string;
  /** Lines for stderr. */
  errors: string[];
  /** Default: 0, or 1 for `ok: false`. */
  exitCode?: number;
}

export type Verb = RemoteVerb | LocalVerb | SendingVerb;

export function isRemote(verb: Verb): verb is RemoteVerb {
  return "path" in verb;
}

export function isSending(verb: Verb): verb is SendingVerb {
  return "send" in verb;
}

/** Flags that several verbs share. */

export const workspace: Flag = { name: "workspace", field: "workspace", value: text, help: "id or exact name of the workspace" };
export const ofWorkspace: Flag = { ...workspace, required: true };

export function withId(help: string): Flag {
  return { name: "id", field: "id", value: id, required: true, help };
}

/**
 * A verb of the command line, as data: its flags, and the control API request that it sends, or its local action.
 *
 * Most verbs are rows that `scripts/control-tables.ts` derives from the endpoints. `additions.ts` has what the terminal adds to them, and
 * `local-verbs.ts` the verbs that no endpoint describes.
 */
import type { Method } from "../../src/control-api/endpoint.ts";
import type { Kind, Value } from "./value.ts";

/** A verb as the endpoints describe it. */
export interface VerbRow extends Omit<VerbBase, "flags"> {
  method: Method;
  path: string;
  /** Its answer may be a stream of parts with the result at its end. */
  progress?: boolean;
  flags: readonly FlagRow[];
}

/** The file of rows, one per line. */
export const rowsFile = new URL("./verbs.jsonl", import.meta.url);

export interface FlagRow extends Omit<Flag, "value"> {
  /** A kind of value, or the words to choose from. */
  takes: Kind | string[];
}

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
  /** A tools key is enough for it. */
  takesToolsKey?: boolean;
  noun: string;
  /** Empty for a noun that does one thing. */
  verb: string;
  summary: string;
  /** The argument after the verb that has no flag. */
  operand?: Operand;
  flags: readonly Flag[];
  /** The words after the verb in the example of the help; absent: the required flags with sample values. */
  example?: string;
  /** The warning of a verb that cannot be undone and therefore requires --yes. */
  confirm?: string;
}

export interface Operand {
  field: string;
  placeholder: string;
  help: string;
}

export interface RemoteVerb extends VerbBase, Pick<Addition, "columns" | "show" | "send" | "uploads" | "notes"> {
  method: Method;
  /** Below /api/console; `:field` stands for the value of a flag. */
  path: string;
  /**
   * Formats the line for one part of an answer that is a stream of parts with the result at its end. Absent: the answer is not a stream.
   */
  progress?(part: Record<string, unknown>): string;
}

/** What the terminal adds to a verb that an endpoint describes. */
export interface Addition {
  /** Replaces the endpoint's. */
  summary?: string;
  operand?: Operand;
  /** Further flags. */
  flags?: readonly Flag[];
  /** The fields in the text for people; absent: all. --json always prints all. */
  columns?: readonly string[];
  /** Formats the answer for people, if a table of its rows is not enough. */
  show?(body: Record<string, unknown>): string | Promise<string>;
  /** Formats a part of a stream; absent: its fields. */
  progress?(part: Record<string, unknown>): string;
  /** Makes several calls, such as one for each batch of a local file or for each page of a list. */
  send?(fields: Record<string, unknown>, sending: Sending): Promise<LocalAnswer>;
  /** The path for uploads, and for notes; absent: the verb's path. */
  uploads?: string;
  notes?: string;
}

/** Needs only files or the database, and no service. */
export interface LocalVerb extends VerbBase {
  local(fields: Record<string, unknown>, files: Files): Promise<LocalAnswer>;
}

export interface Sending {
  /** Sends one request. @returns its answer @throws CallError unless the service answers with success */
  post(fields: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Sends one request to the path of `notes`; else like `post`. */
  note(fields: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Sends one request to a path below /api/console; else like `post`. */
  postTo(path: string, fields: Record<string, unknown>): Promise<Record<string, unknown>>;
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

export type Verb = RemoteVerb | LocalVerb;

export function isRemote(verb: Verb): verb is RemoteVerb {
  return "path" in verb;
}

/** Noun and verb. */
export function nameOf({ noun, verb }: Pick<Verb, "noun" | "verb">): string {
  return `${noun} ${verb}`.trim();
}

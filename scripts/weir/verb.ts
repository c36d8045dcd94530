/** A verb of the command line is data: what it takes, and which request of the control API it becomes, or what is done here. */
import type { Value } from "./value.ts";

export interface Flag {
  /** Without the dashes. */
  name: string;
  /** Field of the request, or parameter of its path where the path names it. */
  field: string;
  value: Value;
  required?: boolean;
  help: string;
}

interface VerbWords {
  noun: string;
  verb: string;
  summary: string;
  /** What is named without a flag, behind the verb. */
  operand?: { field: string; words: string; help: string };
  flags: readonly Flag[];
  /** What cannot be undone asks for --yes, saying this. */
  confirm?: string;
  /** Fields that people are shown, all when left out; --json always prints all. */
  columns?: readonly string[];
}

export interface RemoteVerb extends VerbWords {
  method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Below /api/console; `:field` stands for the value of a flag. */
  path: string;
  /** The body is the file whose path this field holds; the other fields go into the query, with `filename`. */
  file?: { field: string; bytesMax: number };
  /** The answer is a stream of parts with the result at its end: the line for a part. Left out: it comes whole. */
  progress?(part: Record<string, unknown>): string;
}

/** Needs files alone, and no service. */
export interface LocalVerb extends VerbWords {
  local(fields: Record<string, unknown>, files: Files): Promise<LocalAnswer>;
}

/** Reads files here and sends what they hold to the service, piece by piece. */
export interface SendingVerb extends VerbWords {
  /** Path below /api/console that it posts to. */
  sends: string;
  /** That it uploads files to. */
  uploads?: string;
  send(fields: Record<string, unknown>, sending: Sending): Promise<LocalAnswer>;
}

export interface Sending {
  /** One request. @returns its answer @throws CallError unless the service answers with success */
  post(fields: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** A request whose body is a file, as `post`. */
  upload(file: Upload): Promise<Record<string, unknown>>;
  /** Shows how far it is. */
  tell(line: string): void;
}

export interface Upload {
  query: Record<string, unknown>;
  body: Uint8Array<ArrayBuffer>;
}

/** Where the files are. */
export interface Files {
  catalogDir: string;
}

export interface LocalAnswer {
  /** What --json prints; `ok: false` is a refusal. */
  body: Record<string, unknown>;
  /** What people are shown. */
  text: string;
  /** Lines for stderr. */
  errors: string[];
}

export type Verb = RemoteVerb | LocalVerb | SendingVerb;

export function isRemote(verb: Verb): verb is RemoteVerb {
  return "path" in verb;
}

export function isSending(verb: Verb): verb is SendingVerb {
  return "sends" in verb;
}

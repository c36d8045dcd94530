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
  /** The answer is a stream of parts with the result at its end: the line for a part. Left out: it comes whole. */
  progress?(part: Record<string, unknown>): string;
}

/** Needs files alone, and no service. */
export interface LocalVerb extends VerbWords {
  local(fields: Record<string, unknown>, files: Files): Promise<LocalAnswer>;
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

export type Verb = RemoteVerb | LocalVerb;

export function isRemote(verb: Verb): verb is RemoteVerb {
  return "path" in verb;
}

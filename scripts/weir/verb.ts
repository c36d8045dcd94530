/** A verb of the command line is data: what it takes, and which request of the control API it becomes. */
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

export interface Verb {
  noun: string;
  verb: string;
  summary: string;
  method: "GET" | "POST" | "PATCH";
  /** Below /api/console; `:field` stands for the value of a flag. */
  path: string;
  flags: readonly Flag[];
  /** What cannot be undone asks for --yes, saying this. */
  confirm?: string;
  /** Fields that people are shown, all when left out; --json always prints all. */
  columns?: readonly string[];
  /** The answer is a stream of parts with the result at its end: the line for a part. Left out: it comes whole. */
  progress?(part: Record<string, unknown>): string;
}

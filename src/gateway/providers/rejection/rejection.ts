/** A request that its provider refused, with the cause in words of ours and the fields that the provider named. */
import { parseJson } from "../wire/json.ts";
import { UpstreamFailure } from "../provider.ts";
import { causeOf, rejectionCauses, type RejectionCause } from "./causes.ts";
import type { FieldPath } from "./field-path.ts";
import { readTold } from "./told.ts";

export class Rejection extends UpstreamFailure {
  override name = "Rejection";
  /** null: not recognized. */
  readonly why: RejectionCause | null;
  /** Fields of a chat that the cause is about, the likeliest first: `max_tokens` stands for the bound on output, however the client calls it. */
  readonly fields: readonly FieldPath[];
  /** Fields as the provider names them, the likeliest first. This is its text: show only what the request itself has. */
  readonly paths: readonly FieldPath[];
  /** The field of the client's request, once it is found there; null: none. */
  param: string | null = null;

  constructor(detail: string, { why, fields, paths }: Pick<Rejection, "why" | "fields" | "paths">) {
    super("upstream_rejected", detail, why === null ? null : rejectionCauses[why]);
    this.why = why;
    this.fields = fields;
    this.paths = paths;
  }
}

const outputNames = [
  "max_tokens",
  "max_completion_tokens",
  "max_new_tokens",
  "maxOutputTokens",
  "in the completion",
  "output tokens",
];

/**
 * Adds the cause and the fields that the provider's error names, if it refused the request. Other failures are returned as they are.
 * @param body the error as it came, parsed or not
 * @param status of the response; absent: 200
 */
export function withCause(failure: UpstreamFailure, body: unknown, status?: number): UpstreamFailure {
  if (failure.code !== "upstream_rejected") return failure;
  const told = readTold(typeof body === "string" ? (parseJson(body) ?? body) : body);
  const why = causeOfHint(failure.hint) ?? (status === 413 ? "too_large" : causeOf(told));
  if (why === "too_long") return new Rejection(failure.message, { why, fields: tooLong(told.texts), paths: [] });
  const fields = why === "reasoning_effort" ? [["reasoning_effort"]] : [];
  const rejection = new Rejection(failure.message, { why, fields, paths: told.paths });
  rejection.isOfThoughts = failure.isOfThoughts;
  return rejection;
}

/** The prompt, or together with it the output that the client asked for, where the provider speaks of that. */
function tooLong(texts: readonly string[]): FieldPath[] {
  return texts.some((text) => outputNames.some((name) => text.includes(name))) ? [["max_tokens"], ["messages"]] : [["messages"]];
}

function causeOfHint(hint: string | null): RejectionCause | null {
  if (hint === null) return null;
  const known = Object.entries(rejectionCauses).find(([, words]) => words === hint);
  return (known?.[0] as RejectionCause | undefined) ?? null;
}
